// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"example.org/ibconsole/history/records"
)

// recorded is what the session has of what ports counted over time.
type recorded struct {
	mu     sync.Mutex                // guards what follows it
	stores map[string]*records.Store // by file
	// lately is what [Session.RecordedLately] found last, of the subnet latelyOf.
	lately   *records.Recorded
	latelyOf string
}

// ErrNoRecords says that nothing was recorded.
var ErrNoRecords = errors.New("nothing was recorded on this machine (record start)")

// systemRecords is the file of the recorder of the system, "" for none.
func (s *Session) systemRecords() string {
	if s.opt.Places.Records == "" {
		return ""
	}
	return filepath.Join(s.opt.Places.Records, records.FileName)
}

// RecordsFile is that of the session, "" for none.
func (s *Session) RecordsFile() string {
	file := s.recorder.Load().File()
	if file == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(file), records.FileName)
}

// Records are what was recorded on this machine, by this user or by the system: what has the latest of the subnet where
// both have recorded. The error is [ErrNoRecords] where there are none.
func (s *Session) Records(ctx context.Context) (*records.Store, error) {
	return s.recordsIn(ctx, s.RecordsFile(), s.systemRecords())
}

func (s *Session) recordsIn(ctx context.Context, places ...string) (*records.Store, error) {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	var there []string
	for _, file := range places {
		if _, err := os.Stat(file); file != "" && err == nil {
			there = append(there, file)
		}
	}
	if len(there) == 0 {
		return nil, ErrNoRecords
	}
	store, err := s.recorded.open(ctx, there[0])
	if err != nil || len(there) == 1 {
		return store, err
	}
	other, err := s.recorded.open(ctx, there[1])
	if err != nil { // which may be for others alone
		return store, nil
	}
	_, last, _, err := store.Span(ctx, s.Subnet())
	if err != nil {
		return nil, err
	}
	if _, later, found, err := other.Span(ctx, s.Subnet()); err != nil || !found || !later.After(last) {
		return store, err
	}
	return other, nil
}

// open has a file of records open until the session is closed.
func (r *recorded) open(ctx context.Context, file string) (*records.Store, error) {
	if store := r.stores[file]; store != nil {
		return store, nil
	}
	store, err := records.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	if r.stores == nil {
		r.stores = map[string]*records.Store{}
	}
	r.stores[file] = store
	return store, nil
}

// closeRecords closes the records that were read.
func (s *Session) closeRecords() (err error) {
	s.recorded.mu.Lock()
	defer s.recorded.mu.Unlock()
	for _, store := range s.recorded.stores {
		err = errors.Join(err, store.Close())
	}
	s.recorded.stores = nil
	if err != nil {
		return fmt.Errorf("close the records: %w", err)
	}
	return nil
}
