// SPDX-License-Identifier: Apache-2.0

// Package alerts runs a program for each event of a session.
package alerts

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/history"
	"example.org/ibconsole/shell/session"
)

// alerter holds the goroutines that run a program for each event. It works until Close.
type alerter struct {
	stop    context.CancelFunc
	running sync.WaitGroup
}

// Alert is the JSON object that describes an event to the program. The program reads it from its standard input.
type Alert struct {
	Subnet string `json:"subnet"`
	history.Event
	// Missed counts the preceding events that were dropped because the queue was full.
	Missed int `json:"missed,omitempty"`
	// Alert is set if the event is the beginning or the end of an alert.
	Alert *session.Alert `json:"alert,omitempty"`
}

const (
	// maxQueued is the maximum number of events that wait for the program.
	maxQueued = 100
	// alertLimit is the time limit of one run of the program.
	alertLimit = 30 * time.Second
)

// Start runs a program for each event from now on, one event at a time. This ends with [Stop] or with the session. The
// arguments are passed unchanged, without a shell.
func Start(s *session.Session, program string, args ...string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	Stop(s)
	ctx, cancel := context.WithCancel(context.Background())
	a := &alerter{stop: cancel}
	w := s.Watch()
	st := s.State()
	added := st.EventCount()
	queue := make(chan Alert, maxQueued)
	a.running.Go(func() {
		defer close(queue)
		defer w.Stop()
		queueAlerts(ctx, s, w, added, queue)
	})
	a.running.Go(func() {
		for x := range queue {
			if ctx.Err() == nil {
				alert(ctx, s, x, path, args)
			}
		}
	})
	s.Publish(0, func(st *session.State) { slot.Put(st, a) })
	return nil
}

// queueAlerts queues the events that occur after the first events. The argument added is the number of these first
// events. If the queue is full, it drops events and counts them.
func queueAlerts(ctx context.Context, s *session.Session, w *session.Watcher, added uint64, queue chan<- Alert) {
	missed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.C:
			w.Take()
		}
		st := s.State()
		fresh := st.EventsSince(added)
		added = st.EventCount()
		for i := range fresh {
			e := &fresh[i]
			if e.What == history.WhatRest {
				continue
			}
			select {
			case queue <- Alert{s.Subnet(), e.Kept(), missed, e.Alert}:
				missed = 0
			default:
				missed++
			}
		}
	}
}

// alert runs the program for one event. If that fails, it adds a note to the session, for which the program is not run.
func alert(ctx context.Context, s *session.Session, x Alert, path string, args []string) {
	text, err := json.Marshal(x)
	if err != nil {
		return
	}
	limit, cancel := context.WithTimeoutCause(ctx, alertLimit, fmt.Errorf("exceeded the time limit of %v", alertLimit))
	defer cancel()
	cmd := exec.CommandContext(limit, path, args...)
	cmd.Stdin = bytes.NewReader(append(text, '\n'))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil && ctx.Err() == nil {
		if limit.Err() != nil {
			err = context.Cause(limit)
		}
		s.Publish(session.ChangeLive, func(st *session.State) {
			note := fabric.Escape(fmt.Sprintf("exec %s: %v", path, err))
			if n := len(st.Events); n == 0 || !strings.HasPrefix(st.Events[n-1].Text, note) {
				st.NoteOf(history.WhatRest, "", "%s", note)
			}
		})
	}
}

var slot = session.NewSlot[*alerter]()

// Close ends the alerts, and kills the program if it is running.
func (a *alerter) Close() error {
	a.stop()
	a.running.Wait()
	return nil
}

// Stop ends the alerts that [Start] began, and kills the program if it is running.
func Stop(s *session.Session) {
	var a *alerter
	s.Publish(0, func(st *session.State) { a = slot.Take(st) })
	if a != nil {
		_ = a.Close() // never fails
	}
}
