#include "CSimulatedExecutor.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// The hooks of libswift_Concurrency (swift/Runtime/Concurrency.h). They are declared here because that header isn't
// installed.
#define SWIFT_CALL __attribute__((swiftcall))

typedef SWIFT_CALL void (*enqueue_original)(void *job);
extern SWIFT_CALL void (*swift_task_enqueueGlobal_hook)(void *job, enqueue_original original);

typedef SWIFT_CALL void (*delay_original)(unsigned long long delay, void *job);
extern SWIFT_CALL void (*swift_task_enqueueGlobalWithDelay_hook)(
    unsigned long long delay, void *job, delay_original original);

typedef SWIFT_CALL void (*deadline_original)(
    long long seconds, long long nanoseconds, long long tolerance, long long tolerance_nanoseconds, int clock,
    void *job);
extern SWIFT_CALL void (*swift_task_enqueueGlobalWithDeadline_hook)(
    long long seconds, long long nanoseconds, long long tolerance, long long tolerance_nanoseconds, int clock,
    void *job, deadline_original original);

SWIFT_CALL void swift_job_run(void *job, void *executor_identity, uintptr_t executor_implementation);

static _Thread_local csimulated_take current_take;
static _Thread_local void *current_context;

static SWIFT_CALL void enqueue(void *job, enqueue_original original) {
    if (current_take) {
        current_take(current_context, job);
    } else {
        original(job);
    }
}

static void refuse_real_time(void) {
    if (!current_take) return;
    fputs("the simulation met a sleep in real time; every clock must be injected\n", stderr);
    abort();
}

static SWIFT_CALL void enqueue_with_delay(unsigned long long delay, void *job, delay_original original) {
    refuse_real_time();
    original(delay, job);
}

static SWIFT_CALL void enqueue_with_deadline(
    long long seconds, long long nanoseconds, long long tolerance, long long tolerance_nanoseconds, int clock,
    void *job, deadline_original original) {
    refuse_real_time();
    original(seconds, nanoseconds, tolerance, tolerance_nanoseconds, clock, job);
}

// Runs before a second thread could read the hooks.
__attribute__((constructor)) static void install(void) {
    swift_task_enqueueGlobal_hook = enqueue;
    swift_task_enqueueGlobalWithDelay_hook = enqueue_with_delay;
    swift_task_enqueueGlobalWithDeadline_hook = enqueue_with_deadline;
}

void csimulated_enter(void *context, csimulated_take take) {
    current_context = context;
    current_take = take;
}

void csimulated_leave(void) { current_take = 0; }

void csimulated_run(void *job) { swift_job_run(job, 0, 0); }
