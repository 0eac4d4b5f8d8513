// SPDX-License-Identifier: Apache-2.0

package history_test

import (
	"context"
	"path/filepath"
	"testing"

	"example.org/ibconsole/history"
	"example.org/ibconsole/internal/test/testenv"
)

// FuzzOpen reads everything in a history that was changed at one place.
func FuzzOpen(f *testing.F) {
	dir := f.TempDir()
	s := store(f, dir)
	tb := tables(f, "fattree:2,4")
	e := entry(history.Sweep)
	e.Events = []history.Event{{When: noon, What: history.WhatTables, Text: "x"}}
	add(f, s, e, tb)
	if _, err := s.Begin(context.Background(), 0, snapshot(entry(history.Commit), tb),
		snapshot(entry(history.Commit), tb)); err != nil {
		f.Fatal(err)
	}
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	testenv.FuzzFile(f, filepath.Join(dir, history.FileName), func(t *testing.T, path string) {
		_ = history.Check(path)
		s, err := history.OpenFile(t.Context(), path)
		if err != nil {
			return
		}
		all, _ := s.List(t.Context(), "", 0)
		for i := range all[:min(len(all), 20)] {
			_, _ = s.Load(t.Context(), all[i].ID)
		}
		journal, _ := s.Journal(t.Context(), "")
		for i := range journal[:min(len(journal), 20)] {
			_, _ = s.Halfway(t.Context(), &journal[i])
		}
		_, _ = s.Export(t.Context(), filepath.Join(t.TempDir(), "exported"), "")
		_ = s.Close()
	})
}
