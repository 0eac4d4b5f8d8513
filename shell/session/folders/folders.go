// SPDX-License-Identifier: Apache-2.0

// Package folders reads series of ibdiagnet folders.
package folders

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats"
	"example.org/ibconsole/fabric/trend"
	"example.org/ibconsole/internal/base/files"
	"example.org/ibconsole/internal/base/when"
	"example.org/ibconsole/shell/answer"
)

// Series is a series of folders in the order of their times.
type Series struct {
	First, Last *trend.Folder
	Names       []string // in the order of time
	Readings    []*trend.Reading
	// Unread holds the folders that could not be read, with the errors. Read returns an error instead if fewer than two
	// folders are left.
	Unread []error
	// Partial holds the first fault of each folder of which something could not be read, for example of a truncated
	// file. Such a folder may lack nodes and ports that exist.
	Partial []string
}

// Read reads folders or archives of ibdiagnet, or its databases. A name that is a folder of such folders stands for all
// of them. If since is not zero, the series begins with the last folder that is not later. The function progress, which
// may be nil, is called after each folder.
func Read(ctx context.Context, names []string, since time.Time, progress func(done, total int)) (*Series, error) {
	paths, err := Expand(ctx, names)
	if err != nil {
		return nil, err
	}
	s := &Series{}
	type entry struct {
		name    string
		reading *trend.Reading
	}
	var all []entry
	var first, last *trend.Folder
	for i, path := range paths {
		f, fault, err := readFolder(ctx, path)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read folders of ibdiagnet: %w", ctx.Err())
		}
		if err != nil {
			s.Unread = append(s.Unread, err)
			continue
		}
		all = append(all, entry{path, f.Read()})
		if fault != "" {
			s.Partial = append(s.Partial, fault)
		}
		if first == nil || before(f.When, first.When, since) {
			first = f
		}
		if last == nil || !f.When.Before(last.When) {
			last = f
		}
		if progress != nil {
			progress(i+1, len(paths))
		}
	}
	all = slices.DeleteFunc(all, func(e entry) bool { return first != nil && e.reading.When.Before(first.When) })
	slices.SortStableFunc(all, func(a, b entry) int { return a.reading.When.Compare(b.reading.When) })
	if len(all) < 2 {
		if len(s.Unread) > 0 {
			return nil, fmt.Errorf("read two folders of ibdiagnet: %w", errors.Join(s.Unread...))
		}
		return nil, fmt.Errorf("%d folder of ibdiagnet in %s, expected at least 2", len(all),
			fabric.Escape(strings.Join(names, ", ")))
	}
	if last.When.Equal(first.When) {
		return nil, fmt.Errorf("%s and %s are both of %s, expected two times", fabric.Escape(first.Name),
			fabric.Escape(last.Name), when.Text(first.When))
	}
	s.First, s.Last = first, last
	for _, e := range all {
		s.Names, s.Readings = append(s.Names, e.name), append(s.Readings, e.reading)
	}
	return s, nil
}

// before reports whether a folder of time t is a better first folder than one of time first. The best one is the last
// that is not after since, or the earliest if all are after since, or if since is zero.
func before(t, first, since time.Time) bool {
	switch {
	case since.IsZero(), first.After(since):
		return t.Before(first)
	case t.After(since):
		return false
	}
	return t.After(first)
}

// readFolder reads a folder. It also returns the first fault in its files, or "".
func readFolder(ctx context.Context, path string) (f *trend.Folder, fault string, err error) {
	s, err := formats.Read(ctx, path)
	if err != nil {
		return nil, "", err
	}
	if s.Health == nil {
		return nil, "", fmt.Errorf("%s is not a folder of ibdiagnet", fabric.Escape(path))
	}
	if len(s.Unread.Findings) > 0 {
		fault = s.Unread.Findings[0].Error()
	}
	return &trend.Folder{Name: path, When: s.When, Fabric: s.Fabric, Counters: s.Counters, Health: s.Health}, fault, nil
}

// Expand replaces each name that is a folder of ibdiagnet folders by these folders, in the order of their names.
func Expand(ctx context.Context, names []string) ([]string, error) {
	var paths []string
	for _, name := range names {
		info, err := files.Stat(ctx, name)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() || holdsDatabase(ctx, name) {
			paths = append(paths, name)
			continue
		}
		l, err := files.Folder(ctx, name)
		if err != nil {
			return nil, err
		}
		found := 0
		for _, e := range l.Entries {
			path := filepath.Join(name, e.Name)
			if e.Folder && holdsDatabase(ctx, path) || !e.Folder && isPacked(e.Name) {
				paths = append(paths, path)
				found++
			}
		}
		if found == 0 {
			return nil, fmt.Errorf("%s: no folder or archive of ibdiagnet, expected files whose names end in .db_csv",
				fabric.Escape(name))
		}
	}
	return paths, nil
}

// holdsDatabase reports whether a folder has a file with the name of a database of ibdiagnet.
func holdsDatabase(ctx context.Context, folder string) bool {
	l, err := files.Folder(ctx, folder)
	return err == nil && slices.ContainsFunc(l.Entries, func(e files.Entry) bool {
		return !e.Folder && strings.Contains(e.Name, ".db_csv")
	})
}

// isPacked reports whether a file has the name of an archive.
func isPacked(name string) bool {
	return strings.Contains(name, ".tar") || strings.HasSuffix(name, ".tgz")
}

// Lacking returns the kinds of data that the first or the last folder lacks.
func (s *Series) Lacking() []string {
	var lacking []string
	for _, k := range []struct {
		what string
		has  func(f *trend.Folder) bool
	}{
		{"error counters", func(f *trend.Folder) bool { return f.Counters != nil }},
		{"bit error rates, modules and their temperatures", func(f *trend.Folder) bool {
			return len(f.Health.Ports()) > 0
		}},
		{"firmware, fans and power supplies", func(f *trend.Folder) bool { return f.Health.HasNodes() }},
	} {
		if !k.has(s.First) || !k.has(s.Last) {
			lacking = append(lacking, k.what)
		}
	}
	return lacking
}

// Basis returns the basis of answers about the series.
func (s *Series) Basis() answer.Basis {
	b := answer.Basis{State: "file", Title: s.Last.Name, Source: s.Last.Name, AsOf: s.Last.When}
	for _, err := range s.Unread {
		b.Unread.Note("folder", err.Error(), 1, answer.Place{})
	}
	for _, fault := range s.Partial {
		b.Unread.Note("part of a folder", fault, 1, answer.Place{})
	}
	for _, what := range s.Lacking() {
		b.Unread.Note("kind of data", what+": a folder lacks them", 1, answer.Place{})
	}
	return b
}

// Common returns the number of nodes that the first and the last folder have in common, and the number of all nodes of
// the larger folder.
func (s *Series) Common() (both, all int) {
	a, b := s.First.Fabric, s.Last.Fabric
	for i := range a.Nodes {
		if b.NodeByGUID(a.Nodes[i].GUID) != fabric.None {
			both++
		}
	}
	return both, max(len(a.Nodes), len(b.Nodes))
}
