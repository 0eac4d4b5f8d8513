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

// alerter runs a program for each event until it is stopped.
type alerter struct {
	stop  context.CancelFunc
	ended sync.WaitGroup
}

// Alert is what a program is told of an event, as JSON on its standard input.
type Alert struct {
	Subnet string `json:"subnet"`
	history.Event
	// Missed is how many events before it were not told, as the program takes longer than they come.
	Missed int `json:"missed,omitempty"`
}

const (
	// mostAlerts is how many events wait for the program.
	mostAlerts = 100
	// alertLimit is how long the program may take for one.
	alertLimit = 30 * time.Second
)

// Start runs a program for each event from now on, one after the other, until [Stop] or the end of the session. Its
// arguments are as they are; no shell sees them.
func Start(s *session.Session, program string, args ...string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	Stop(s)
	ctx, cancel := context.WithCancel(context.Background())
	a := &alerter{stop: cancel}
	w := s.Watch()
	last := time.Now()
	queue := make(chan Alert, mostAlerts)
	a.ended.Go(func() {
		defer close(queue)
		defer w.Stop()
		queueAlerts(ctx, s, w, last, queue)
	})
	a.ended.Go(func() {
		for x := range queue {
			if ctx.Err() == nil {
				alert(ctx, s, x, path, args)
			}
		}
	})
	s.Publish(0, func(st *session.State) { slot.Put(st, a) })
	return nil
}

// queueAlerts hands events on as they come. What does not fit is counted.
func queueAlerts(ctx context.Context, s *session.Session, w *session.Watcher, last time.Time, queue chan<- Alert) {
	missed := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.C:
			w.Take()
		}
		st := s.State()
		told := last // several may be of one time
		for i := range st.Events {
			e := &st.Events[i]
			if !e.When.After(told) {
				continue
			}
			if last = e.When; e.What == history.WhatRest {
				continue
			}
			select {
			case queue <- Alert{s.Subnet(), e.Kept(), missed}:
				missed = 0
			default:
				missed++
			}
		}
	}
}

// alert runs the program once. That it fails is noted, which is nothing to alert of.
func alert(ctx context.Context, s *session.Session, x Alert, path string, args []string) {
	text, err := json.Marshal(x)
	if err != nil {
		return
	}
	limit, cancel := context.WithTimeoutCause(ctx, alertLimit, fmt.Errorf("it took more than %v", alertLimit))
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

// Close ends the alerts, and a program that runs.
func (a *alerter) Close() error {
	a.stop()
	a.ended.Wait()
	return nil
}

// Stop ends what [Start] began, and a program that runs.
func Stop(s *session.Session) {
	var a *alerter
	s.Publish(0, func(st *session.State) { a = slot.Take(st) })
	if a != nil {
		_ = a.Close() // which never fails
	}
}
