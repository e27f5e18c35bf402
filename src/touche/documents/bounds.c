/* Finds the ends of records without parsing them, so that a file can be cut as fast as it is read.
 *
 * In a valid file all bounds are right. In a broken file they may be wrong, but the parser then reports the error.
 */
#include <stdint.h>
#include <string.h>

const char source[] = SOURCE; /* the SHA-256 of this file; compiled.py compares it */

enum { DEEPEST = 100 };                       /* levels of JSON; the corpus has six */
enum { MORE, BEGIN, END, COMMA, DEEP };       /* why the search stops */

static const char KEY[] = "arguments";
enum { ESCAPE = 6 };                          /* bytes of an escaped letter, such as \u0061 */

/* Returns where a string ends, behind its quote; the end of the bytes if the string goes on. */
static int64_t behind_string(const uint8_t *bytes, int64_t begin, int64_t end)
{
    for (int64_t here = begin; here < end;) {
        const uint8_t *mark = memchr(bytes + here, '"', end - here);
        if (!mark)
            break;
        int64_t stop = mark - bytes, backslashes = 0;
        while (stop - backslashes > here && bytes[stop - backslashes - 1] == '\\')
            backslashes++;
        here = stop + 1;
        if (!(backslashes & 1))
            return here;
    }
    return end;
}

static int digit(uint8_t hexadecimal)
{
    return hexadecimal <= '9' ? hexadecimal - '0' : (hexadecimal | 32) - 'a' + 10;
}

/* Returns whether a string, from behind its opening quote to its closing quote, is the key. */
static int is_key(const uint8_t *here, const uint8_t *closing)
{
    for (const char *letter = KEY; *letter; letter++)
        if (*here == *letter)
            here++;
        else if (closing - here >= ESCAPE && !memcmp(here, "\\u00", 4) && 16 * digit(here[4]) + digit(here[5]) == *letter)
            here += ESCAPE;
        else
            return 0;
    return here == closing;
}

/* Searches for the list of the key in an object, or for the commas between the elements of a list, and returns why the
 * search stops. The first byte is at this depth: 0 for a whole file; 2 in the list, or for the bracket that ends it.
 *
 * found[0] is the end of the bytes for MORE, the first byte in the list for BEGIN, else the byte of the event. found[1]
 * is the last comma before it between elements of the list, or -1. With every, each of these commas is an event. */
int64_t json_bounds(const uint8_t *bytes, int64_t here, int64_t end, int64_t depth, int64_t in_list, int64_t every,
                    int64_t *found)
{
    const uint8_t *key = NULL, *closing = NULL; /* the last string at depth 1, behind its opening quote */
    int key_ends = 0;                           /* the value of the key is next */
    found[1] = -1;
    for (; here < end; here++) {
        found[0] = here;
        switch (bytes[here]) {
        case '"':
            key = depth == 1 ? bytes + here + 1 : key;
            here = behind_string(bytes, here + 1, end) - 1;
            closing = depth == 1 ? bytes + here : closing;
            break;
        case ':':
            key_ends = depth == 1 && key && is_key(key, closing);
            break;
        case '[':
        case '{':
            if (++depth > DEEPEST)
                return DEEP;
            if (key_ends && bytes[here] == '[') {
                found[0] = here + 1;
                return BEGIN;
            }
            key_ends = 0;
            break;
        case ']':
        case '}':
            if (depth == 2 && in_list)
                return END;
            depth -= depth > 0;
            key_ends = 0;
            break;
        case ',':
            key_ends = 0;
            if (depth != 2 || !in_list)
                break;
            if (every)
                return COMMA;
            found[1] = here;
            break;
        }
    }
    found[0] = end;
    return MORE;
}

/* Returns the byte behind the last row that ends in these bytes, which begin with a row; 0 if none ends. As in Python's
 * csv, a quote begins a quoted field only at the beginning of the field. */
int64_t end_of_rows(const uint8_t *bytes, int64_t size)
{
    enum { START, UNQUOTED, QUOTE } now = START; /* QUOTE: behind a closing or doubled quote */
    int64_t behind = 0;
    for (int64_t here = 0; here < size; here++) {
        uint8_t byte = bytes[here];
        if (byte == '"' && now != UNQUOTED) {
            const uint8_t *mark = memchr(bytes + here + 1, '"', size - here - 1);
            if (!mark)
                break;
            here = mark - bytes;
            now = QUOTE;
        } else
            now = byte == ',' || byte == '\n' ? START : UNQUOTED;
        if (byte == '\n')
            behind = here + 1;
    }
    return behind;
}
