/* Finds the ends of records without parsing them, so that a file can be cut as fast as it is read.
 *
 * Blocks end anywhere; the state describes what is open at the end of a block. In a valid file all bounds are right.
 * In a broken file they may be wrong, but the parser then reports the error.
 */
#include <stdint.h>
#include <string.h>

const char source[] = SOURCE; /* the SHA-256 of this file; compiled.py compares it */

enum { DEEPEST = 100 };                       /* levels of JSON; the corpus has six */
enum { MORE, BEGIN, END, COMMA, DEEP };       /* why the search in a block stops */
enum { START, UNQUOTED, QUOTED, QUOTE };      /* states in a field of CSV; QUOTE: behind a closing or doubled quote */

static const char KEY[] = "arguments";
enum { ESCAPE = 6, ROOM = ESCAPE * (sizeof(KEY) - 1) + 1 }; /* each letter may be escaped as \u0061; a quote ends the key */

typedef struct {
    int32_t in_string, escaped; /* escaped: a backslash precedes the next byte */
    int32_t depth, in_list;     /* in_list: within the list of the key, at depth 2 or deeper */
    int32_t key_size, key_ends; /* key_ends: the value of the key is next */
    char key[ROOM];             /* the last string at depth 1 and its quote, truncated */
} json;

/* Returns where a string ends, behind its quote; the end of the block if the string goes on. */
static int64_t behind_string(json *s, const uint8_t *bytes, int64_t here, int64_t end)
{
    int64_t begin = here + s->escaped; /* in bounds, because a block is never empty */
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

/* Returns whether the last string at depth 1 is the key. */
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

/* Searches a block from a byte to the next event. found[0] is the end of the block for MORE, the first byte in the
 * list for BEGIN, else the byte of the event. found[1] and found[2] are the first and the last comma between elements
 * of the list, or -1; if every comma is an event, both are -1. */
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
                s->in_list = 0; /* the next search begins with this byte, outside of the list */
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

/* Writes where the first record of the block ends, and the byte behind its last record; 0 if none ends. As in Python's
 * csv, a quote begins a quoted field only at the beginning of the field. */
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
