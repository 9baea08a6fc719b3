// scripts/bench compiles this file together with a checkout of minmea, which isn't part of this project.
#include <minmea.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static bool parse(const char *line) {
    switch (minmea_sentence_id(line, true)) {
    case MINMEA_SENTENCE_RMC: {
        struct minmea_sentence_rmc sentence;
        return minmea_parse_rmc(&sentence, line);
    }
    case MINMEA_SENTENCE_GGA: {
        struct minmea_sentence_gga sentence;
        return minmea_parse_gga(&sentence, line);
    }
    case MINMEA_SENTENCE_GLL: {
        struct minmea_sentence_gll sentence;
        return minmea_parse_gll(&sentence, line);
    }
    case MINMEA_SENTENCE_VTG: {
        struct minmea_sentence_vtg sentence;
        return minmea_parse_vtg(&sentence, line);
    }
    case MINMEA_SENTENCE_GSA: {
        struct minmea_sentence_gsa sentence;
        return minmea_parse_gsa(&sentence, line);
    }
    case MINMEA_SENTENCE_GST: {
        struct minmea_sentence_gst sentence;
        return minmea_parse_gst(&sentence, line);
    }
    case MINMEA_SENTENCE_GBS: {
        struct minmea_sentence_gbs sentence;
        return minmea_parse_gbs(&sentence, line);
    }
    case MINMEA_SENTENCE_ZDA: {
        struct minmea_sentence_zda sentence;
        return minmea_parse_zda(&sentence, line);
    }
    // When the decoder is measured, it doesn't read satellites in view. Both only verify the checksum.
    default: return false;
    }
}

/// Returns the number of lines that minmea parses.
size_t minmea_loop(const uint8_t *bytes, size_t count) {
    char line[256];
    size_t parsed = 0;
    const uint8_t *end = bytes + count;
    while (bytes < end) {
        const uint8_t *feed = memchr(bytes, '\n', (size_t)(end - bytes));
        size_t length = (size_t)((feed ? feed : end) - bytes);
        if (length < sizeof line) {
            memcpy(line, bytes, length);
            line[length] = 0;
            if (parse(line)) parsed++;
        }
        bytes += length + 1;
    }
    return parsed;
}
