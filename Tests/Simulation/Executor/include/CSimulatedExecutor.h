#pragma once

// Swift's global executor, replaced for single threads: jobs that are made ready on a thread that has entered are
// handed to its queue instead of the pool of threads.

typedef void (*csimulated_take)(void *_Nonnull context, void *_Nonnull job);

// From now on jobs made ready on this thread go to `take`; a real delay asked for on it ends the process.
void csimulated_enter(void *_Nonnull context, csimulated_take _Nonnull take);

// Jobs made ready on this thread go to the pool again.
void csimulated_leave(void);

// Runs a job that was taken, on this thread.
void csimulated_run(void *_Nonnull job);
