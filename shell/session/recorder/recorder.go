// SPDX-License-Identifier: Apache-2.0

// Package recorder records the sweeps, routes and commits of a session in its history.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"sync"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
)

// Options controls a recorder.
type Options struct {
	// File is the file of the history, or "" for none. Why is the reason why there is no history, or nil if the user
	// chose to have none.
	File   string
	Why    error
	All    bool        // record sweeps, routes and loads, not only commits
	Failed func(error) // called with an error of writing
	// Exposed is called if other users could replace the file.
	Exposed func(error)
}

// Recorder adds states to a history in its own goroutine, so that no operation waits for the disk. It opens the history
// when that is first needed.
type Recorder struct {
	opt  Options
	once sync.Once
	// The fields below are set once.
	store *history.Store
	err   error // why there is no store
	who   string
	jobs  chan job
	ended chan struct{}
}

type job struct {
	entry   history.Entry
	fabric  *fabric.Fabric
	tables  *fabric.Tables
	written chan struct{} // if not nil, it is closed once the jobs before it are done
}

// New returns a recorder. It does not open the history yet.
func New(opt Options) *Recorder {
	opt.All = opt.All && opt.File != ""
	return &Recorder{opt: opt, who: "unknown"}
}

// Elsewhere returns a recorder with the same options for another file.
func (r *Recorder) Elsewhere(file string) *Recorder {
	return New(Options{File: file, All: r.opt.All || r.opt.Why != nil, Failed: r.opt.Failed, Exposed: r.opt.Exposed})
}

// File returns the file of the history, or "" for none.
func (r *Recorder) File() string { return r.opt.File }

// None reports whether the session was intentionally opened without a history.
func (r *Recorder) None() bool { return r.opt.File == "" && r.opt.Why == nil }

// Exists reports whether the file of the history exists.
func (r *Recorder) Exists() bool {
	_, err := os.Stat(r.opt.File)
	return r.opt.File != "" && err == nil
}

// Who returns the user that entries name.
func (r *Recorder) Who() string { return r.who }

func (r *Recorder) open() error {
	r.once.Do(func() {
		if r.opt.File == "" {
			if r.err = errors.New("this session keeps no history"); r.opt.Why != nil {
				r.err = fmt.Errorf("%w: %w", r.err, r.opt.Why)
			}
			return
		}
		if u, err := user.Current(); err == nil {
			r.who = u.Username
		}
		if r.store, r.err = history.OpenFile(context.Background(), r.opt.File); r.err != nil {
			r.opt.Failed(r.err)
			return
		}
		if why := r.store.ReadOnly(); why != nil {
			r.opt.Failed(why)
		}
		if why := r.store.Exposed(); why != nil {
			r.opt.Exposed(why)
		}
		r.jobs, r.ended = make(chan job, 4), make(chan struct{})
		go r.run()
	})
	return r.err
}

// run records the jobs until Close.
func (r *Recorder) run() {
	defer close(r.ended)
	for j := range r.jobs {
		if j.written != nil {
			close(j.written)
			continue
		}
		if _, err := r.store.Add(context.Background(), j.entry, j.fabric, j.tables); err != nil {
			r.opt.Failed(err)
		}
	}
}

// Close waits until everything is written.
func (r *Recorder) Close() error {
	r.once.Do(func() { r.err = errors.New("the session is closed") })
	if r.store == nil {
		return nil
	}
	close(r.jobs)
	<-r.ended
	return r.store.Close()
}

// Records reports whether sweeps, routes and loads are to be recorded, and the history can be written.
func (r *Recorder) Records() bool { return r.opt.All && r.open() == nil && r.store.ReadOnly() == nil }

// Record adds a subnet to the history. While earlier entries are still being stored, it skips sweeps and returns false.
func (r *Recorder) Record(e history.Entry, f *fabric.Fabric, t *fabric.Tables) bool {
	j := job{entry: e, fabric: f, tables: t}
	if e.Kind != history.Sweep {
		r.jobs <- j
		return true
	}
	select {
	case r.jobs <- j:
		return true
	default:
		return false
	}
}

// Store returns the history, after all recorded states have been stored. If there is no history, it returns the reason.
func (r *Recorder) Store() (*history.Store, error) {
	if err := r.open(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	r.jobs <- job{written: done}
	<-done
	return r.store, nil
}
