/*
 * Random callers of penstock.h: schemes with texts of which many are wrong, and calls of their points in any order and with any numbers.
 *
 * Standard input has a line for each scheme: its name and those of its parameters. Under the address sanitizer nothing is written beyond what
 * a caller lends, and nothing is left behind at the end. The calls are the same each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "penstock.h"

static uint64_t state = 88172645463325252u;
static uint64_t word(void) {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}
static uint64_t below(uint64_t n) { return word() % n; }
/* Of any size, often at an end of its range. */
static uint64_t number(void) {
    uint64_t kind = below(6);
    return kind == 0 ? 0 : kind == 1 ? UINT64_MAX : kind == 2 ? word() : kind == 3 ? (uint64_t)1 << below(64) : word() >> below(64);
}

static uint64_t signals;
static uint32_t draw(void *context) { return ++*(uint64_t *)context, (uint32_t)word(); }
static void take(void *context, const penstock_signal *signal) {
    ++*(uint64_t *)context;
    signals += signal->octets > 0;
}

/* Parameters of a scheme: names that it has, values of all kinds, and now and then an octet that belongs to neither. */
static void text(char *to, size_t room, char *const *names, size_t count) {
    static const char *const values[] = {"auto", "40 KB", "1 us", "0.5", "true", "3", "5 Mbps", "-1", "1e400", "99999999999999999999", "", "= ;"};
    to[0] = 0;
    for (uint64_t i = below(4); i > 0 && count > 0; i--) {
        size_t used = strlen(to);
        snprintf(to + used, room - used, "%s%s = %s", used ? ", " : "", names[below(count)], values[below(12)]);
    }
    size_t used = strlen(to);
    if (used && below(4) == 0) to[below(used)] = (char)(1 + below(255));
}

static void points(const penstock_scheme *scheme, uint64_t calls) {
    uint64_t context = 0;
    const penstock_host host = {&context, draw, take};
    const penstock_place place = {number(), 1 + number() / 2, number(), number() >> below(40)};
    penstock_rp *rp = NULL;
    penstock_cp *cp = NULL;
    penstock_np *np = NULL;
    penstock_rp_create(scheme, below(2) ? UINT64_C(10000000000) : number(), &host, &rp);
    penstock_cp_create(scheme, &place, below(8) ? &host : NULL, &cp);
    penstock_np_create(scheme, (uint32_t)word(), &host, &np);
    for (uint64_t i = 0; i < calls; i++) {
        uint64_t now = number();
        uint32_t flow = (uint32_t)below(4);
        penstock_label label = {(uint32_t)below(7), (uint32_t)below(3), number()};
        penstock_frame frame = {flow, (uint32_t)number(), number(), number(), (uint32_t)number(), (uint32_t)below(5), label};
        const penstock_queue queue = {number(), number(), number(), (uint32_t)word(), (uint32_t)below(2)};
        penstock_message message = {(uint32_t)below(11), (uint32_t)below(5), number(), (int64_t)number(), (int64_t)number(), number(), number(),
                                    (uint32_t)number(), (uint32_t)word(), (uint32_t)word(), 0};
        penstock_echo echo = {(uint32_t)below(9), (uint8_t)word(), (uint8_t)word(), 0};
        const penstock_ack ack = {number(), number(), number(), echo};
        const penstock_release release = {flow, (uint32_t)word(), number(), (uint32_t)below(2), 0};
        penstock_allowance allowance;
        switch (below(18)) {
        case 0: penstock_rp_start(rp, now, flow); break;
        case 1: penstock_rp_stop(rp, now, flow); break;
        case 2: penstock_rp_message(rp, now, flow, &message); break;
        case 3: penstock_rp_ack(rp, now, flow, &ack); break;
        case 4: penstock_rp_silence(rp, now, flow, number()); break;
        case 5: penstock_rp_send(rp, now, &release, &label); break;
        case 6: penstock_rp_timeout(rp, now); break;
        case 7: penstock_rp_round_trip(rp, number()); break;
        case 8: penstock_cp_arrival(cp, now, below(2), &frame, &queue); break;
        case 9: penstock_cp_mark(cp, now, number(), &frame); break;
        case 10: penstock_cp_departure(cp, now, &frame, &queue); break;
        case 11: penstock_cp_timeout(cp, now, &queue); break;
        case 12: penstock_np_frame(np, now, &frame); break;
        case 13: penstock_np_acknowledge(np, now, &frame, &echo); break;
        case 14: penstock_np_message(np, now, &message); break;
        case 15: penstock_cp_transmission(cp, now, &frame, &queue); break;
        case 16: penstock_cp_probe_departure(cp, now, &message, &queue); break;
        default:
            penstock_rp_configure(rp, scheme);
            penstock_cp_configure(cp, scheme);
            penstock_np_configure(np, scheme);
        }
        penstock_rp_allowance(rp, &allowance);
    }
    penstock_rp_destroy(rp);
    penstock_cp_destroy(cp);
    penstock_np_destroy(np);
}

static void parts(const penstock_scheme *scheme) {
    penstock_rate_calculator *calculator = NULL;
    penstock_sampler *sampler = NULL;
    penstock_token_bucket *bucket = NULL;
    uint32_t words[2] = {(uint32_t)word(), (uint32_t)word()}, used;
    penstock_rate_state rates;
    penstock_rate_calculator_create(scheme, number(), &calculator);
    penstock_sampler_create(scheme, &sampler);
    penstock_token_bucket_create(number(), number(), number(), number(), &bucket);
    for (int i = 0; i < 100; i++) {
        penstock_rate_calculator_decrease(calculator, number(), (uint32_t)number(), words, (uint32_t)below(3));
        penstock_rate_calculator_count(calculator, (uint32_t)number(), words, (uint32_t)below(3));
        penstock_rate_calculator_timeout(calculator, number(), words, (uint32_t)below(3));
        penstock_rate_calculator_state(calculator, &rates);
        penstock_sampler_sample(sampler, (uint32_t)number(), (uint32_t)number(), words, (uint32_t)below(3), below(2) ? &used : NULL);
        penstock_sampler_reload(sampler, (uint32_t)number(), words, (uint32_t)below(3));
        penstock_sampler_feedback(sampler, number(), number());
        penstock_token_bucket_set_rate(bucket, number(), number());
        penstock_token_bucket_take(bucket, number(), (uint32_t)number());
        penstock_token_bucket_ready(bucket, number(), (uint32_t)number());
        penstock_jitter(number(), (uint32_t)number(), (uint32_t)word());
    }
    penstock_rate_calculator_destroy(calculator);
    penstock_sampler_destroy(sampler);
    penstock_token_bucket_destroy(bucket);
}

int main(void) {
    static char line[16384];
    uint64_t made = 0, refused = 0;
    while (fgets(line, sizeof line, stdin)) {
        char *names[200] = {NULL};
        size_t count = 0;
        for (char *name = strtok(line, " \n"); name && count < 200; name = strtok(NULL, " \n")) names[count++] = name;
        for (int i = 0; count && i < 60; i++) {
            char parameters[400];
            size_t room = below(80);
            char *message = malloc(room + 1); /* not an octet more than said */
            penstock_scheme *scheme = NULL;
            text(parameters, sizeof parameters, names + 1, count - 1);
            penstock_status status = penstock_scheme_create(names[0], i ? parameters : "", &scheme, message, room);
            if ((status == PENSTOCK_OK) != (scheme != NULL)) return 1;
            if (room && strlen(message) >= room) return 1;
            if (scheme) points(scheme, i ? 50 : 1000), parts(scheme), made++;
            else refused++;
            penstock_scheme_destroy(scheme);
            free(message);
        }
    }
    printf("%llu schemes, %llu refused, %llu signals\n", (unsigned long long)made, (unsigned long long)refused, (unsigned long long)signals);
    return 0;
}
