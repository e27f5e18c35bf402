/* Counts words: the length of each text, and the frequencies of the terms of the topics.
 *
 * The automaton of words.npz finds the ends of words; tests/scan/words.py makes it from rules. The analysis in Python turns a
 * word into a term of the topics, another term, or nothing. Python is asked once for each distinct word that begins like
 * a term of the topics, and a table stores the answer. Reading stops at a word that is not in the table, and continues
 * after the answer. There are no callbacks, because a signal could interrupt one.
 *
 * Texts are UTF-8. Eight more bytes with any content follow the last text; reading never goes beyond them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char source[] = SOURCE; /* the SHA-256 of this file; compiled.py compares it */

enum { CLASSES = 32, NOTHING = 0, BEGIN = 1, LONGEST = 255 }; /* LONGEST: Lucene's limit, in units of UTF-16 */
enum { COUNTED = -1, DROPPED = -2, IGNORED = -3 };            /* meanings that are not the number of a term */
enum { EIGHT = 8 };                                           /* bytes that are compared at once */
enum { READ, UNKNOWN, NO_MEMORY };                            /* why reading stops */
enum { MOST_WORDS = 1 << 20, MOST_BYTES = 1 << 26 };          /* limits of the table, which is emptied when it is full */

typedef struct {
    const uint8_t *block_of, *blocks; /* class of code point c: blocks[256 * block_of[c / 256] + c % 256] */
    const uint8_t *steps;             /* successor of state s for class c: steps[CLASSES * s + c] */
    const uint8_t *ends;              /* whether a word may end in a state */
} automaton;

typedef struct {
    uint64_t hash;
    int64_t begin; /* where the word begins in the stored bytes */
    int32_t size;  /* in bytes; 0 if the entry is free */
    int32_t meaning;
} entry;

typedef struct {
    int32_t text, term, frequency;
} posting;

typedef struct {
    int32_t term, place;
} occurrence;

typedef struct {
    automaton words;
    uint8_t begins[128], goes_on[128]; /* whether an ASCII character begins a word; continues letters */
    const uint8_t *beginnings; /* for each three letters: whether such a word may be a term */
    uint64_t seed; /* random, against inputs chosen to be slow */
    entry *entries;
    int64_t room, known; /* room is a power of two */
    uint8_t *kept;
    int64_t kept_room, kept_size;
    int32_t *counted, *frequencies; /* frequencies of terms in the current text; negative indexes are other words */
    int32_t *seen;                  /* the terms of the current text */
    posting *postings;
    int64_t postings_room, postings_size;
    int placed;                 /* whether positions of terms are stored */
    occurrence *occurrences;    /* positions in all texts, in order */
    int64_t occurrences_room, occurrences_size;
    int64_t text, here, length; /* current text, byte in it, and number of words so far */
    int32_t terms;              /* number of distinct terms so far */
} counter;

/* Returns the size of the next character in bytes, and writes its code point; a byte that is not UTF-8 is U+FFFD. */
static int character(const uint8_t *text, int64_t left, uint32_t *point)
{
    static const uint32_t first[5] = {0, 0, 0x1F, 0x0F, 0x07};
    int size = text[0] < 0x80 ? 1 : text[0] < 0xC2 ? 0 : text[0] < 0xE0 ? 2 : text[0] < 0xF0 ? 3 : text[0] < 0xF5 ? 4 : 0;
    if (size < 2 || size > left) {
        *point = size == 1 ? text[0] : 0xFFFD;
        return 1;
    }
    uint32_t found = text[0] & first[size];
    for (int i = 1; i < size; i++)
        found = found << 6 | (text[i] & 0x3F);
    *point = found < 0x110000 ? found : 0xFFFD;
    return size;
}

/* A word from begin to end; end equals begin if there is no word. */
typedef struct {
    int64_t begin, end;
    int all_ascii;
} word;

/* Returns eight bytes as a number, the first byte as the lowest. */
static inline uint64_t eight_at(const uint8_t *text)
{
    uint64_t found;
    memcpy(&found, text, EIGHT);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    found = __builtin_bswap64(found);
#endif
    return found;
}

/* Returns how many of eight bytes are ASCII letters before the first other byte. All bytes are compared at once; the
 * highest bit of each byte is the result for it. */
static inline int letters_of(uint64_t eight)
{
    const uint64_t each = 0x0101010101010101u, highest = 0x80 * each;
    uint64_t low = (eight & ~highest) | 0x20 * each;
    uint64_t from_a = low + (0x80 - 'a') * each, beyond_z = low + (0x80 - 'z' - 1) * each;
    uint64_t others = ~(from_a & ~beyond_z & ~eight) & highest;
    return others ? __builtin_ctzll(others) / 8 : EIGHT;
}

/* Returns how many ASCII letters begin a text, at most LONGEST. */
static inline int letters_here(const uint8_t *text, int64_t left)
{
    int found = 0, more;
    do
        found += more = letters_of(eight_at(text + found));
    while (more == EIGHT && found < left && found < LONGEST);
    int64_t most = left < LONGEST ? left : LONGEST;
    return found < most ? found : (int)most;
}

/* Returns the longest word that begins here. */
static inline word word_here(const automaton *words, const uint8_t *text, int64_t here, int64_t end)
{
    const uint8_t *ascii = words->blocks + 256 * words->block_of[0];
    word found = {here, here, 1};
    /* Letters stay in the state of the first letter, so that only the first one needs a step. */
    int units = letters_here(text + here, end - here);
    int state = units ? words->steps[CLASSES * BEGIN + ascii['a']] : BEGIN;
    found.end = here += units;
    for (int all_ascii = 1; here < end;) {
        uint32_t point = text[here];
        int class, size = 1;
        if (point < 0x80)
            class = ascii[point];
        else {
            size = character(text + here, end - here, &point);
            class = words->blocks[256 * words->block_of[point >> 8] + (point & 255)];
            all_ascii = 0;
        }
        units += 1 + (point > 0xFFFF);
        state = words->steps[CLASSES * state + class];
        if (state == NOTHING || units > LONGEST)
            break;
        here += size;
        if (words->ends[state])
            found.end = here, found.all_ascii = all_ascii;
    }
    return found;
}

/* Returns the next word that begins here or later; an empty word if there is none. */
static inline word next_word(const automaton *words, const uint8_t *text, int64_t here, int64_t end)
{
    const uint8_t *ascii = words->blocks + 256 * words->block_of[0];
    const uint8_t *first = words->steps + CLASSES * BEGIN;
    while (here < end) {
        if (text[here] < 0x80 && first[ascii[text[here]]] == NOTHING) {
            here++;
            continue;
        }
        word found = word_here(words, text, here, end);
        if (found.end > here)
            return found;
        uint32_t point;
        here += character(text + here, end - here, &point);
    }
    return (word){end, end, 1};
}

/* Writes begin and end of each word of a text, and returns the number of words, at most one for each byte. */
int64_t split(const automaton *words, const uint8_t *text, int64_t size, int64_t *places)
{
    int64_t found = 0;
    for (word next = next_word(words, text, 0, size); next.end > next.begin; found++) {
        places[2 * found] = next.begin;
        places[2 * found + 1] = next.end;
        next = next_word(words, text, next.end, size);
    }
    return found;
}

/* Returns whether an ASCII word may be a term: terms begin with the same three letters, in any case. */
static inline int may_matter(const counter *c, const uint8_t *letters, int64_t size)
{
    uint32_t key = letters[0] & 31;
    key = key << 5 | (size > 1 ? letters[1] & 31 : 0);
    key = key << 5 | (size > 2 ? letters[2] & 31 : 0);
    return c->beginnings[key];
}

/* Returns up to eight letters as a number. */
static inline uint64_t eight_of(const uint8_t *letters, int64_t size)
{
    uint64_t found = eight_at(letters);
    return size < EIGHT ? found & (((uint64_t)1 << 8 * size) - 1) : found;
}

/* Hashes a word. Different words of the same size have different hashes if they have at most eight letters. */
static inline uint64_t hash_of(uint64_t seed, const uint8_t *letters, int64_t size)
{
    uint64_t hash = seed ^ (uint64_t)size;
    for (int64_t at = 0; at < size; at += EIGHT) {
        hash = (hash ^ eight_of(letters + at, size - at)) * 0x9E3779B97F4A7C15u; /* odd, so that products stay distinct */
        hash ^= hash >> 32;
    }
    return hash;
}

/* Makes room for more elements; returns 0 if there is no memory. */
static int grow(void **array, int64_t *room, int64_t needed, int64_t size)
{
    if (needed <= *room)
        return 1;
    int64_t wanted = 2 * needed + 1024;
    void *larger = realloc(*array, wanted * size);
    if (!larger)
        return 0;
    *array = larger, *room = wanted;
    return 1;
}

static int64_t place_of(const counter *c, uint64_t hash, const uint8_t *letters, int64_t size)
{
    int64_t place = hash & (c->room - 1);
    for (const entry *e; (e = c->entries + place)->size; place = (place + 1) & (c->room - 1))
        if (e->hash == hash && e->size == size && (size <= EIGHT || !memcmp(c->kept + e->begin, letters, size)))
            break;
    return place;
}

/* Doubles the table, or empties a full one; returns 0 if there is no memory. */
static int more_entries(counter *c)
{
    if (c->known >= MOST_WORDS || c->kept_size >= MOST_BYTES) {
        memset(c->entries, 0, c->room * sizeof(entry));
        c->known = c->kept_size = 0;
        return 1;
    }
    int64_t room = 2 * c->room;
    entry *larger = calloc(room, sizeof(entry));
    if (!larger)
        return 0;
    for (int64_t i = 0; i < c->room; i++)
        if (c->entries[i].size) {
            int64_t place = c->entries[i].hash & (room - 1);
            while (larger[place].size)
                place = (place + 1) & (room - 1);
            larger[place] = c->entries[i];
        }
    free(c->entries);
    c->entries = larger, c->room = room;
    return 1;
}

/* Stores the meaning of a word; returns 0 if there is no memory. */
int64_t tell(counter *c, const uint8_t *letters, int64_t size, int32_t meaning)
{
    if ((2 * c->known >= c->room || c->kept_size >= MOST_BYTES) && !more_entries(c))
        return 0;
    if (!grow((void **)&c->kept, &c->kept_room, c->kept_size + size, 1))
        return 0;
    memcpy(c->kept + c->kept_size, letters, size);
    uint64_t hash = hash_of(c->seed, letters, size);
    c->entries[place_of(c, hash, letters, size)] = (entry){hash, c->kept_size, (int32_t)size, meaning};
    c->kept_size += size;
    c->known++;
    return 1;
}

/* Returns the end of a word that consists of ASCII letters only and has less than two times eight; else returns here.
 * Most words are of this kind, and this test is faster than the automaton. */
static inline int64_t end_of_letters(const counter *c, const uint8_t *text, int64_t here, int64_t end)
{
    int64_t letters = letters_of(eight_at(text + here));
    if (letters == EIGHT && here + EIGHT < end)
        letters += letters_of(eight_at(text + here + EIGHT));
    int64_t next = here + letters;
    return next < end && letters < 2 * EIGHT && text[next] < 0x80 && !c->goes_on[text[next]] ? next : here;
}

/* Returns the next word that begins here or later; an empty word if there is none. */
static inline word word_from(const counter *c, const uint8_t *text, int64_t here, int64_t end)
{
    while (here < end && text[here] < 0x80 && !c->begins[text[here]])
        here++;
    int64_t next = end_of_letters(c, text, here, end);
    return next > here ? (word){here, next, 1} : next_word(&c->words, text, here, end);
}

/* Reads a text to its end, and stores the postings of its terms; or stops at an unknown word. */
static int read_text(counter *c, const uint8_t *text, int64_t size)
{
    int64_t length = c->length;
    int32_t terms = c->terms;
    /* Every byte may be a word. */
    if (c->placed && !grow((void **)&c->occurrences, &c->occurrences_room, c->occurrences_size + size, sizeof(occurrence)))
        return NO_MEMORY;
    for (word each = {c->here, c->here, 1}; each = word_from(c, text, each.end, size), each.end > each.begin;) {
        const uint8_t *letters = text + each.begin;
        int64_t letters_size = each.end - each.begin;
        length++;
        if (each.all_ascii && !may_matter(c, letters, letters_size))
            continue;
        const entry *found = c->entries + place_of(c, hash_of(c->seed, letters, letters_size), letters, letters_size);
        if (!found->size) {
            c->here = each.begin, c->length = length - 1, c->terms = terms;
            return UNKNOWN;
        }
        int32_t meaning = found->meaning;
        if (c->placed && meaning >= 0)
            c->occurrences[c->occurrences_size++] = (occurrence){meaning, (int32_t)(length - 1) + c->frequencies[DROPPED]};
        /* Without a branch, because the processor could not predict it. */
        length -= meaning <= DROPPED;
        c->seen[terms] = meaning;
        terms += meaning >= 0 && !c->frequencies[meaning];
        c->frequencies[meaning]++;
    }
    c->terms = terms;
    if (!grow((void **)&c->postings, &c->postings_room, c->postings_size + terms, sizeof(posting)))
        return NO_MEMORY;
    for (int32_t i = 0; i < terms; i++) {
        c->postings[c->postings_size++] = (posting){(int32_t)c->text, c->seen[i], c->frequencies[c->seen[i]]};
        c->frequencies[c->seen[i]] = 0;
    }
    c->frequencies[COUNTED] = c->frequencies[DROPPED] = c->frequencies[IGNORED] = 0;
    c->here = 0, c->length = length, c->terms = 0;
    return READ;
}

counter *new_counter(const automaton *words, const uint8_t *beginnings, int64_t terms, uint64_t seed)
{
    counter *c = calloc(1, sizeof(counter));
    if (!c)
        return NULL;
    c->words = *words, c->beginnings = beginnings, c->seed = seed, c->room = 1 << 12;
    const uint8_t *ascii = words->blocks + 256 * words->block_of[0], *first = words->steps + CLASSES * BEGIN;
    for (int character = 0; character < 128; character++) {
        c->begins[character] = first[ascii[character]] != NOTHING;
        c->goes_on[character] = words->steps[CLASSES * first[ascii['a']] + ascii[character]] != NOTHING;
    }
    c->counted = calloc(terms - IGNORED, sizeof(int32_t));
    c->seen = calloc(terms + 1, sizeof(int32_t));
    c->entries = calloc(c->room, sizeof(entry));
    if (c->counted && c->seen && c->entries) {
        c->frequencies = c->counted - IGNORED;
        return c;
    }
    free(c->counted), free(c->seen), free(c->entries), free(c);
    return NULL;
}

void free_counter(counter *c)
{
    free(c->entries), free(c->kept), free(c->counted), free(c->seen), free(c->postings);
    free(c->occurrences), free(c);
}

/* Prepares for new texts, also after an interrupted call. */
void begin(counter *c, int64_t placed)
{
    for (int32_t i = 0; i < c->terms; i++)
        c->frequencies[c->seen[i]] = 0;
    c->frequencies[COUNTED] = c->frequencies[DROPPED] = c->frequencies[IGNORED] = 0;
    c->text = c->here = c->length = c->postings_size = c->occurrences_size = 0, c->terms = 0;
    c->placed = placed != 0;
}

/* Reads consecutive texts; the n-th is from bounds[n] to bounds[n + 1], and EIGHT bytes follow the last. Returns READ at
 * the end; UNKNOWN at a word without a meaning, from unknown[0] to unknown[1]; or NO_MEMORY. */
int64_t read_on(counter *c, const uint8_t *bytes, const int64_t *bounds, int64_t texts, int32_t *lengths,
                int64_t *unknown)
{
    for (; c->text < texts; c->text++, c->length = 0) {
        int64_t first = bounds[c->text], size = bounds[c->text + 1] - first;
        int ended = read_text(c, bytes + first, size);
        if (ended == UNKNOWN) {
            unknown[0] = first + c->here;
            unknown[1] = first + word_from(c, bytes + first, c->here, size).end;
        }
        if (ended != READ)
            return ended;
        lengths[c->text] = (int32_t)c->length;
    }
    return READ;
}

/* Returns the number of postings of the current texts. */
int64_t postings_of(const counter *c)
{
    return c->postings_size;
}

/* Writes the postings of the current texts; those of term t are from begins[t] to begins[t + 1], ordered by text. */
void take_postings(const counter *c, int64_t terms, int64_t *begins, int32_t *texts, int32_t *frequencies)
{
    memset(begins, 0, (terms + 1) * sizeof(int64_t));
    for (int64_t i = 0; i < c->postings_size; i++)
        begins[c->postings[i].term + 1]++;
    for (int64_t t = 0; t < terms; t++)
        begins[t + 1] += begins[t];
    for (int64_t i = 0; i < c->postings_size; i++) { /* begins[t] advances to the beginning of the next term ... */
        posting each = c->postings[i];
        texts[begins[each.term]] = each.text;
        frequencies[begins[each.term]++] = each.frequency;
    }
    memmove(begins + 1, begins, terms * sizeof(int64_t)); /* ... and is restored here */
    begins[0] = 0;
}

/* Returns the number of term positions in the current texts. */
int64_t occurrences_of(const counter *c)
{
    return c->occurrences_size;
}

/* Writes the positions of terms in the order of the postings; begins has room for a number per term, and one more. */
void take_places(const counter *c, int64_t terms, int64_t *begins, int32_t *places)
{
    memset(begins, 0, (terms + 1) * sizeof(int64_t));
    for (int64_t i = 0; i < c->occurrences_size; i++)
        begins[c->occurrences[i].term + 1]++;
    for (int64_t t = 0; t < terms; t++)
        begins[t + 1] += begins[t];
    for (int64_t i = 0; i < c->occurrences_size; i++)
        places[begins[c->occurrences[i].term]++] = c->occurrences[i].place;
}
