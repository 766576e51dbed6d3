/* The simulator of Penstock for other programs: they send messages and set alarms, and take what happens.
 *
 *      penstock_engine_create(toml, ...)          the network of a scenario, at time zero
 *      penstock_engine_send(engine, from, to, octets, id)
 *      penstock_engine_schedule(engine, delay_ps, id)
 *      penstock_engine_next(engine, &event)       time goes on to the next event:
 *          DELIVERED     the last octet of message id is at its receiver
 *          ACKNOWLEDGED  its sender knows
 *          ALARM         the delay has passed
 *      penstock_engine_finish(engine)             the results, as files of a folder and as JSON
 *
 * Rules
 *   1. Times are picoseconds from the begin of the run. Time stands still between two calls of penstock_engine_next.
 *   2. Ranks are 0 to penstock_engine_ranks() - 1. Without a [[job]] that has graph = "outside" they are the hosts, in
 *      the order in which the topology lists them. Such a [[job]] says which hosts there are, how many ranks each has, and
 *      what transport, priority and frames the messages have.
 *   3. Messages from a rank to another share one connection for the whole run, and are sent in the order of their calls.
 *   4. Events of one time come in the order of the calls that they answer, DELIVERED before ACKNOWLEDGED. A message that
 *      is sent while events of a time are left begins at this time, and its events come after those.
 *   5. Without a transport, and between ranks of one host, a message is acknowledged when it is delivered. Without a
 *      transport, a message of which the network loses a frame never ends.
 *   6. The same calls with the same scenario give the same events, on every machine.
 *   7. Numbers of messages and alarms are the caller's. The engine passes them through and compares none.
 *   8. No function calls back, throws or exits. After PENSTOCK_ENGINE_FAILED and PENSTOCK_ENGINE_BROKEN the run is lost:
 *      the engine answers further calls with the same status, and is destroyed as any other.
 *   9. An engine belongs to one thread at a time; engines share nothing. Texts of the engine live until its next call.
 *
 * Link with -lpenstock_engine; see docs/how-to/use-the-engine-from-c.md. */
#ifndef PENSTOCK_ENGINE_H
#define PENSTOCK_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. penstock_engine_version() is that of the library; they must be equal. */
#define PENSTOCK_ENGINE_VERSION 1u

/* No rank. */
#define PENSTOCK_ENGINE_NONE UINT32_MAX

/* The most octets of a message, and of all messages from a rank to another together. */
#define PENSTOCK_ENGINE_MOST_OCTETS ((uint64_t)1 << 62)

typedef enum penstock_engine_status {
    PENSTOCK_ENGINE_OK = 0,
    PENSTOCK_ENGINE_NULL = 1,         /* a pointer is null */
    PENSTOCK_ENGINE_BAD_TEXT = 2,     /* a text is not UTF-8 */
    PENSTOCK_ENGINE_BAD_SCENARIO = 3, /* the scenario is wrong: the error names line and key */
    PENSTOCK_ENGINE_BAD_CALL = 4,     /* no such rank, one alone, no octets or too many, a time beyond all */
    PENSTOCK_ENGINE_ENDED = 5,        /* the scenario's duration has passed, or the run was finished */
    PENSTOCK_ENGINE_FAILED = 6,       /* too little memory, or results that cannot be written */
    PENSTOCK_ENGINE_BROKEN = 7        /* a defect of the engine */
} penstock_engine_status;

typedef enum penstock_engine_kind {
    PENSTOCK_ENGINE_IDLE = 0,         /* no message or alarm is under way: time stands still until the next one */
    PENSTOCK_ENGINE_DELIVERED = 1,
    PENSTOCK_ENGINE_ACKNOWLEDGED = 2,
    PENSTOCK_ENGINE_ALARM = 3,
    PENSTOCK_ENGINE_END = 4           /* the scenario's duration has passed */
} penstock_engine_kind;

typedef struct penstock_engine_event {
    uint32_t kind;                    /* a penstock_engine_kind */
    uint32_t reserved;                /* 0 */
    uint64_t id;                      /* the caller's number; 0 for IDLE and END */
    uint64_t time_ps;                 /* when: the time that the run now has */
} penstock_engine_event;

typedef struct penstock_engine penstock_engine;

uint32_t penstock_engine_version(void);

/* Lays out the network of a scenario: toml is its text, not a file. name stands for it in errors and results (null:
 * "scenario"). out is the folder of the results, which must not exist (null: none is written). An engine is handed out
 * even if this fails, unless engine is null: to be asked for its error, and to be destroyed. */
penstock_engine_status penstock_engine_create(const char *toml, const char *name, const char *out,
                                              penstock_engine **engine);
void penstock_engine_destroy(penstock_engine *engine);

/* The number of ranks; the name of a rank's host, or null; the first rank on a host, or PENSTOCK_ENGINE_NONE. */
uint32_t penstock_engine_ranks(const penstock_engine *engine);
const char *penstock_engine_host(const penstock_engine *engine, uint32_t rank);
uint32_t penstock_engine_rank(const penstock_engine *engine, const char *host);

/* A message of 1 to PENSTOCK_ENGINE_MOST_OCTETS octets begins now; an alarm goes off delay_ps from now. */
penstock_engine_status penstock_engine_send(penstock_engine *engine, uint32_t from, uint32_t to, uint64_t octets,
                                            uint64_t id);
penstock_engine_status penstock_engine_schedule(penstock_engine *engine, uint64_t delay_ps, uint64_t id);

/* Goes on to the next event. The event is written if the status is PENSTOCK_ENGINE_OK. */
penstock_engine_status penstock_engine_next(penstock_engine *engine, penstock_engine_event *event);

/* The time of the last event. */
uint64_t penstock_engine_now(const penstock_engine *engine);

/* Ends the run at this time. Its results are written, if create was given a folder, and the summary can be read: the
 * summary.json of a run, or null before. Messages that have not ended stay so. */
penstock_engine_status penstock_engine_finish(penstock_engine *engine);
const char *penstock_engine_summary(const penstock_engine *engine);

/* The error of the last call that failed, in words; never null, empty before. */
const char *penstock_engine_error(const penstock_engine *engine);

/* The layout, which both sides check when they are built. */
#ifdef __cplusplus
#define PENSTOCK_ENGINE_CHECK(condition) static_assert(condition, #condition)
#else
#define PENSTOCK_ENGINE_CHECK(condition) _Static_assert(condition, #condition)
#endif
PENSTOCK_ENGINE_CHECK(sizeof(penstock_engine_status) == 4);
PENSTOCK_ENGINE_CHECK(sizeof(penstock_engine_event) == 24 && offsetof(penstock_engine_event, id) == 8);
PENSTOCK_ENGINE_CHECK(offsetof(penstock_engine_event, time_ps) == 16);

#ifdef __cplusplus
}
#endif

#endif
