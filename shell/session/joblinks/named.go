// SPDX-License-Identifier: Apache-2.0

package joblinks

import (
	"context"
	"errors"
	"slices"
	"time"

	"example.org/ibconsole/history/records"
	"example.org/ibconsole/shell/session"
	"example.org/ibconsole/shell/session/jobs"
	"example.org/ibconsole/shell/session/recorded"
)

// Named returns the set of hosts with a name, nil if there is none: that of the session, otherwise the last one that a
// recorder observed at some time from since to until. It also returns the names of all these sets.
func Named(ctx context.Context, s *session.Session, name string, since, until time.Time) (*Run, []string, error) {
	st := s.State()
	var names []string
	for i := range st.Sets {
		names = append(names, st.Sets[i].Name)
	}
	if set := st.Sets.Named(name); set != nil {
		job := jobs.Job{ID: set.Name, Hosts: set.List(), From: since, Until: until}
		return &Run{Job: job, IsSet: true, Undated: true}, names, nil
	}
	all, err := recordedSets(ctx, s, since, until)
	var last *Run
	for _, r := range all {
		if r.ID == name {
			last = r
		}
		if !slices.Contains(names, r.ID) {
			names = append(names, r.ID)
		}
	}
	return last, names, err
}

// recordedSets returns the recorded sets of hosts that were defined at some time from since to until.
func recordedSets(ctx context.Context, s *session.Session, since, until time.Time) ([]*Run, error) {
	store, err := s.Recorded().Store(ctx)
	if errors.Is(err, recorded.ErrNone) {
		return nil, nil
	}
	var sets []records.HostSet
	if err == nil {
		sets, err = store.HostSets(ctx, s.Subnet(), since, until)
	}
	now := time.Now()
	var all []*Run
	for i := range sets {
		h := &sets[i]
		r := &Run{jobs.Job{ID: h.Name, Hosts: h.Hosts, From: h.Began, Until: h.Until(now)}, true, false}
		if r.During(since, until) {
			all = append(all, r)
		}
	}
	return all, err
}
