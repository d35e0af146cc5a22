package backfill

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// A job is a timeline that the background fetches.
type job struct {
	channel earshot.Channel
	thread  earshot.MessageID
	tries   int // that failed in a row

	looks    int          // pages of roots that were read to see which threads have grown
	lookedTo earshot.Time // the oldest root of them; 0: none

	notBefore time.Time
}

func (j job) is(k job) bool { return j.channel.Scope() == k.channel.Scope() && j.thread == k.thread }

// A queue holds the jobs of one method, each timeline once.
type queue struct {
	mu    sync.Mutex // guards jobs and taken
	jobs  []job
	taken int // jobs that are being done
	wake  chan struct{}
}

// maxJobs bounds a queue. What does not fit stays marked as not known, and the
// next turn there asks for it.
const maxJobs = 4096

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put adds a job, in front of the others where a turn waits for it. It reports
// false when there is no room.
func (q *queue) put(j job, front bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.jobs, j.is)
	switch {
	case i >= 0 && !front:
		return true
	case i >= 0:
		q.jobs = slices.Delete(q.jobs, i, i+1)
	case len(q.jobs) >= maxJobs:
		return false
	}
	if front {
		q.jobs = slices.Insert(q.jobs, 0, j)
	} else {
		q.jobs = append(q.jobs, j)
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// length returns how many jobs wait or are being done.
func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs) + q.taken
}

// done ends a job that next took.
func (q *queue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.taken--
}

// next takes the first job whose time has come, and waits for one; false when
// ctx ended. Who takes a job calls done.
func (q *queue) next(ctx context.Context) (job, bool) {
	for {
		q.mu.Lock()
		now := time.Now()
		wait := time.Hour
		for i, j := range q.jobs {
			d := j.notBefore.Sub(now)
			if d <= 0 {
				q.jobs = slices.Delete(q.jobs, i, i+1)
				q.taken++
				q.mu.Unlock()
				return j, ctx.Err() == nil
			}
			wait = min(wait, d)
		}
		q.mu.Unlock()
		t := time.NewTimer(wait)
		select {
		case <-t.C:
		case <-q.wake:
		case <-ctx.Done():
			t.Stop()
			return job{}, false
		}
		t.Stop()
	}
}
