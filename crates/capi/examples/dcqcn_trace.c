/* DCQCN's reaction point answers a recorded trace: lines of standard input
 *
 *     TIME_PS send OCTETS | TIME_PS cnp | TIME_PS timeout
 *
 * For each it prints the time, the rate in bit/s, and when the timer runs out. */
#include <inttypes.h>
#include <penstock.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    if (penstock_version() != PENSTOCK_VERSION) {
        fprintf(stderr, "the library has version %" PRIu32 ", the header %u: build both from one release\n",
                penstock_version(), PENSTOCK_VERSION);
        return 1;
    }
    char message[160];
    penstock_scheme *scheme;
    if (penstock_scheme_create("dcqcn", "profile = hpcc-100g", &scheme, message, sizeof message) != PENSTOCK_OK) {
        fprintf(stderr, "%s\n", message);
        return 1;
    }
    const penstock_host host = {NULL, NULL, NULL};
    penstock_rp *rp;
    penstock_status status = penstock_rp_create(scheme, UINT64_C(100000000000), &host, &rp);
    penstock_scheme_destroy(scheme);
    if (status != PENSTOCK_OK)
        return 1;

    const penstock_message cnp = {.kind = PENSTOCK_MESSAGE_CNP};
    uint64_t now, sent = 0;
    char event[16];
    penstock_rp_start(rp, 0, 1);
    while (scanf("%" SCNu64 " %15s", &now, event) == 2) {
        if (strcmp(event, "send") == 0) {
            penstock_release frame = {.flow = 1, .seq = sent};
            penstock_label label;
            if (scanf("%" SCNu32, &frame.octets) != 1)
                return 1;
            penstock_rp_send(rp, now, &frame, &label);
            sent += frame.octets;
        } else if (strcmp(event, "cnp") == 0) {
            penstock_rp_message(rp, now, 1, &cnp);
        } else {
            penstock_rp_timeout(rp, now);
        }
        penstock_allowance allowance;
        penstock_rp_allowance(rp, &allowance);
        printf("%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", now, allowance.rate_bps, penstock_rp_next_timeout(rp));
    }
    penstock_rp_destroy(rp);
    return 0;
}
