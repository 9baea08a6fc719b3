#pragma once

// A replacement for Swift's global executor on single threads: a job that becomes ready on a thread that has called
// `csimulated_enter` is passed to the thread's own queue instead of the thread pool.

typedef void (*csimulated_take)(void *_Nonnull context, void *_Nonnull job);

// Passes each job that becomes ready on this thread to `take` from now on. A real delay requested on this thread aborts
// the process.
void csimulated_enter(void *_Nonnull context, csimulated_take _Nonnull take);

// Passes the jobs that become ready on this thread to the thread pool again.
void csimulated_leave(void);

// Runs a job that was passed to `take`, on this thread.
void csimulated_run(void *_Nonnull job);
