/* Finds where records end, so that a file can be cut between them: as fast as it is read, and without parsing it.
 *
 * A file comes in blocks that end anywhere; what is open at the end of one stays in the state. Bounds are right in
 * every file that is as it should be. Of any other, what is cut at them is refused by whoever parses it.
 */
#include <stdint.h>
#include <string.h>

const char source[] = SOURCE; /* its SHA-256, by which compiled.py knows whether a library is of this version */

enum { DEEPEST = 100 };                       /* levels of JSON; real arguments have six */
enum { MORE, BEGIN, END, COMMA, DEEP };       /* why a block is looked at no further */
enum { START, UNQUOTED, QUOTED, QUOTE };      /* in a field of CSV; QUOTE: behind a mark that ends it, or is doubled */

static const char KEY[] = "arguments";
enum { ESCAPE = 6, ROOM = ESCAPE * (sizeof(KEY) - 1) + 1 }; /* for each letter as \u0061, and the mark that ends them */

typedef struct {
    int32_t in_string, escaped; /* escaped: the next byte is no mark, for a backslash precedes it */
    int32_t depth, in_list;     /* in_list: in that under the key, at depth 2 or below */
    int32_t key_size, key_ends; /* key_ends: the value of the key comes next, if this is JSON */
    char key[ROOM];             /* the last text at depth 1 with its mark, as far as there is room */
} json;

/* Where a string that goes on here ends, behind its mark; the end of the block if it goes on there. */
static int64_t behind_string(json *s, const uint8_t *bytes, int64_t here, int64_t end)
{
    int64_t begin = here + s->escaped; /* there is a byte, as a block is never empty */
    for (s->escaped = 0; begin < end;) {
        const uint8_t *mark = memchr(bytes + begin, '"', end - begin);
        int64_t stop = mark ? mark - bytes : end, backslashes = 0;
        while (stop - backslashes > begin && bytes[stop - backslashes - 1] == '\\')
            backslashes++;
        if (!mark)
            s->escaped = backslashes & 1;
        else if (!(backslashes & 1)) {
            s->in_string = 0;
            return stop + 1;
        }
        begin = stop + 1;
    }
    return end;
}

static void keep_key(json *s, const uint8_t *bytes, int64_t size)
{
    for (int64_t i = 0; i < size && s->key_size < ROOM; i++)
        s->key[s->key_size++] = bytes[i];
}

static int digit(char hexadecimal)
{
    return hexadecimal <= '9' ? hexadecimal - '0' : (hexadecimal | 32) - 'a' + 10;
}

/* Whether the last text at depth 1 is the key, if this is JSON. */
static int is_key(const json *s)
{
    const char *at = s->key;
    for (const char *letter = KEY; *letter; letter++)
        if (*at == *letter)
            at++;
        else if (!memcmp(at, "\\u00", 4) && 16 * digit(at[4]) + digit(at[5]) == *letter)
            at += ESCAPE;
        else
            return 0;
    return *at == '"' && at + 1 == s->key + s->key_size;
}

/* Looks at a block from a byte on, up to an event. What lies there, found[0], is: for MORE the end of the block, for
 * BEGIN the first byte in the list, for others the mark itself. The first and the last comma between elements of the
 * list are found[1] and found[2], or -1; if every one is to be an event, there are none. */
int64_t json_bounds(json *s, const uint8_t *bytes, int64_t here, int64_t end, int64_t every, int64_t *found)
{
    found[1] = found[2] = -1;
    for (; here < end; here++) {
        found[0] = here;
        if (s->in_string) {
            int64_t begin = here;
            here = behind_string(s, bytes, here, end);
            if (s->depth == 1)
                keep_key(s, bytes + begin, here - begin);
            here--;
            continue;
        }
        switch (bytes[here]) {
        case '"':
            s->in_string = 1;
            s->key_size = 0;
            break;
        case ':':
            s->key_ends = s->depth == 1 && is_key(s);
            break;
        case '[':
        case '{':
            if (++s->depth > DEEPEST)
                return DEEP;
            if (s->key_ends && bytes[here] == '[') {
                s->key_ends = 0, s->in_list = 1;
                found[0] = here + 1;
                return BEGIN;
            }
            s->key_ends = 0;
            break;
        case ']':
        case '}':
            if (s->depth == 2 && s->in_list) {
                s->in_list = 0; /* the next look begins with this mark, as one outside of the list */
                return END;
            }
            s->depth -= s->depth > 0;
            break;
        case ',':
            s->key_ends = 0;
            if (s->depth != 2 || !s->in_list)
                break;
            if (every)
                return COMMA;
            found[2] = here;
            if (found[1] < 0)
                found[1] = here;
            break;
        }
    }
    found[0] = end;
    return MORE;
}

/* Writes where the first record ends that ends in a block, and behind the end of the last, or 0 if none does. Marks mean
 * what they mean to Python's csv: only at the beginning of a field do they quote. */
void csv_bounds(int32_t *state, const uint8_t *bytes, int64_t size, int64_t *found)
{
    int32_t now = *state;
    found[0] = found[1] = 0;
    for (int64_t here = 0; here < size; here++) {
        if (now == QUOTED) {
            const uint8_t *mark = memchr(bytes + here, '"', size - here);
            if (!mark)
                break;
            here = mark - bytes;
            now = QUOTE;
            continue;
        }
        uint8_t byte = bytes[here];
        if (byte == '"' && now != UNQUOTED)
            now = QUOTED;
        else if (byte == ',' || byte == '\n')
            now = START;
        else
            now = UNQUOTED;
        if (byte == '\n') {
            if (!found[1])
                found[0] = here;
            found[1] = here + 1;
        }
    }
    *state = now;
}
