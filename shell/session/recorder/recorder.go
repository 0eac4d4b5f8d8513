// SPDX-License-Identifier: Apache-2.0

// Package recorder puts what a session does into its history.
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

// Options say which history a recorder writes.
type Options struct {
	// File is where the history is, "" for nowhere, and Why says why nowhere where that was not chosen.
	File   string
	Why    error
	All    bool        // says that sweeps, routings and loads are recorded, not only commits
	Failed func(error) // told what could not be written
	// Exposed is told that others can put another file in its place.
	Exposed func(error)
}

// Recorder puts pictures into a history, one after the other, in a goroutine of its own so that nothing waits
// for the disk. The history is opened when it is first needed.
type Recorder struct {
	opt  Options
	once sync.Once
	// What follows is set once.
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
	written chan struct{} // written, where set, is closed once the jobs before it are done
}

// New is a recorder that has opened nothing yet.
func New(opt Options) *Recorder {
	opt.All = opt.All && opt.File != ""
	return &Recorder{opt: opt, who: "unknown"}
}

// Elsewhere is a recorder of another file.
func (r *Recorder) Elsewhere(file string) *Recorder {
	return New(Options{File: file, All: r.opt.All || r.opt.Why != nil, Failed: r.opt.Failed, Exposed: r.opt.Exposed})
}

// File is where the history is, "" for nowhere.
func (r *Recorder) File() string { return r.opt.File }

// None reports whether no history was asked for, so that none is missed.
func (r *Recorder) None() bool { return r.opt.File == "" && r.opt.Why == nil }

// Exists reports whether there is a history already.
func (r *Recorder) Exists() bool {
	_, err := os.Stat(r.opt.File)
	return r.opt.File != "" && err == nil
}

// Who is the user that entries name.
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

// run records what comes until Close.
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

// Close waits until all is written.
func (r *Recorder) Close() error {
	r.once.Do(func() { r.err = errors.New("the session is closed") })
	if r.store == nil {
		return nil
	}
	close(r.jobs)
	<-r.ended
	return r.store.Close()
}

// Records reports whether entries of sweeps, routings and loads are wanted, and can be written.
func (r *Recorder) Records() bool { return r.opt.All && r.open() == nil && r.store.ReadOnly() == nil }

// Record puts a subnet into the history. Sweeps that come faster than they are stored are left out, and false is
// returned.
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

// Store returns the history, or why there is none. What was recorded so far is in it.
func (r *Recorder) Store() (*history.Store, error) {
	if err := r.open(); err != nil {
		return nil, err
	}
	done := make(chan struct{})
	r.jobs <- job{written: done}
	<-done
	return r.store, nil
}
