/* The hot scans of `framing.hop`, `scan.frontend` and `scan.backend`, which are their reference: same values,
 * same answers, for every input. No Python and no I/O here; `_scan.c` gives them to Python, `_pump.c` uses them. */
#ifndef PGPARLEY_SCAN_H
#define PGPARLEY_SCAN_H

#include <stdint.h>
#include <string.h>

enum { HEADER_SIZE = 5, LEAST_LENGTH = 4, READY_SIZE = 6, NEEDS_INSPECTION = -1 };

/* Kind of a message -> the greatest length that needs no look, 0 for the kinds that do (`framing.passes`). */
typedef uint32_t scan_table[256];

typedef struct {
    scan_table no_text; /* client: passes what carries no SQL text */
    scan_table to_sync; /* client: passes up to a Sync */
    scan_table backend; /* server: passes what a session learns nothing from */
} scan_tables;

static inline int64_t scan_hop(const uint8_t *data, int64_t size, int64_t pos, const scan_table table)
{
    while (pos <= size - HEADER_SIZE) {
        const uint8_t *at = data + pos;
        uint32_t length = (uint32_t)at[1] << 24 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 8 | at[4];
        if (length > table[at[0]] || length < LEAST_LENGTH)
            break;
        pos += (int64_t)length + 1;
    }
    return pos;
}

static inline int scan_in_word(uint8_t byte)
{
    uint8_t letter = byte | 0x20;
    return (letter >= 'a' && letter <= 'z') || (byte >= '0' && byte <= '9') || byte == '_'
        || byte == '$' || byte >= 0x80;
}

static inline int scan_holds_nl(const uint8_t *data, int64_t size)
{
    for (int64_t i = 1; i < size; i++)
        if ((data[i] | 0x20) == 'l' && (data[i - 1] | 0x20) == 'n' && (i < 2 || !scan_in_word(data[i - 2]))
            && (i + 1 == size || !scan_in_word(data[i + 1])))
            return 1;
    return 0;
}

static inline int scan_frontend(const uint8_t *data, int64_t size, const scan_tables *tables)
{
    static const uint8_t sync[HEADER_SIZE] = {'S', 0, 0, 0, 4};
    if (size < HEADER_SIZE)
        return 0;
    if (data[0] == 'Q') {
        int64_t length = (int64_t)data[1] << 24 | (int64_t)data[2] << 16 | (int64_t)data[3] << 8 | data[4];
        return length + 1 != size || scan_holds_nl(data + HEADER_SIZE, size - HEADER_SIZE) ? 0 : 'Q';
    }
    int64_t last = size - HEADER_SIZE;
    if (memcmp(data + last, sync, HEADER_SIZE) != 0)
        return 0;
    int64_t pos = scan_hop(data, size, 0, tables->no_text);
    if (pos < size && data[pos] == 'P') {
        if (scan_holds_nl(data, size))
            return 0;
        pos = scan_hop(data, size, pos, tables->to_sync);
    }
    return pos == last ? 'S' : 0;
}

static inline int64_t scan_backend(const uint8_t *data, int64_t size, int64_t rest, const scan_tables *tables)
{
    int64_t pos = scan_hop(data, size, rest, tables->backend);
    if (pos >= size)
        return (pos - size) << 8;
    if (pos == size - READY_SIZE && data[pos] == 'Z')
        return data[pos + HEADER_SIZE];
    return NEEDS_INSPECTION;
}

#endif
