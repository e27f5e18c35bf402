/* Writes Python's literals of texts, lists and dictionaries as JSON, for which there is a fast parser.
 *
 * What is not plainly the same in both is left to Python. So is what is broken: the marks between texts are handed on
 * as they are, for the parser of JSON takes no more of them than Python does.
 */
#include <stdint.h>
#include <string.h>

const char source[] = SOURCE; /* its SHA-256, by which compiled.py knows whether a library is of this version */

/* A text behind its mark; returns behind which byte it ends, or -1. */
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
            memcpy(out, "\\u00", 4), out += 4; /* two digits follow, or the parser of JSON complains */
            break;
        case 'u':
            /* Two halves of a pair of surrogates are one character in JSON, and none in Python. */
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

/* Writes at most twice as many bytes as it reads, and returns how many; -1 if the literal is left to Python. */
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
