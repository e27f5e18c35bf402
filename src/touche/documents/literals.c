/* Converts Python's literals of strings, lists and dictionaries to JSON, which has a fast parser.
 *
 * A literal that might differ in JSON is left to Python. All bytes between strings are copied, so that the parser of
 * JSON refuses what Python would refuse.
 */
#include <stdint.h>
#include <string.h>

const char source[] = SOURCE; /* the SHA-256 of this file; compiled.py compares it */

/* Converts a string from its opening quote; returns the position behind the closing quote, or -1. */
static int64_t text(const uint8_t *from, int64_t here, int64_t size, uint8_t **to)
{
    uint8_t mark = from[here++], *out = *to;
    *out++ = '"';
    for (; here < size && from[here] != mark; here++) {
        if (from[here] < ' ')
            return -1;
        if (from[here] != '\\') {
            if (from[here] == '"')
                *out++ = '\\';
            *out++ = from[here];
            continue;
        }
        if (++here == size)
            return -1;
        switch (from[here]) {
        case '\'':
            *out++ = '\'';
            break;
        case '"':
        case '\\':
        case 'n':
        case 'r':
        case 't':
            *out++ = '\\', *out++ = from[here];
            break;
        case 'x':
            memcpy(out, "\\u00", 4), out += 4; /* the parser of JSON checks the two digits */
            break;
        case 'u':
            /* In JSON a pair of surrogates is one character, in Python two invalid ones. */
            if (here + 1 == size || (from[here + 1] | 32) == 'd')
                return -1;
            *out++ = '\\', *out++ = 'u';
            break;
        default:
            return -1;
        }
    }
    *out++ = '"';
    *to = out;
    return here < size ? here + 1 : -1;
}

/* Writes at most twice as many bytes as it reads, and returns their number; -1 leaves the literal to Python. */
int64_t json_of_literal(const uint8_t *from, int64_t size, uint8_t *to)
{
    uint8_t *out = to;
    for (int64_t here = 0; here < size;) {
        uint8_t byte = from[here];
        if (byte == '\'' || byte == '"') {
            here = text(from, here, size, &out);
            if (here < 0)
                return -1;
        } else if (byte == 'N' && size - here >= 4 && !memcmp(from + here, "None", 4)) {
            memcpy(out, "null", 4);
            out += 4, here += 4;
        } else if (byte && strchr("[]{},: ", byte)) {
            *out++ = byte, here++;
        } else
            return -1;
    }
    return out - to;
}
