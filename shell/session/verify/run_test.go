// SPDX-License-Identifier: Apache-2.0

package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines"
)

// programs stand in for those of infiniband-diags, found before them; each is this script.
func programs(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"ibnetdiscover", "dump_fts", "ibtracert"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// tables are those of a fat-tree with 4 leaves of 2 hosts and 2 spines.
func tables(t *testing.T) *fabric.Tables {
	t.Helper()
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	engine, err := engines.ByName(engines.Default)
	if err != nil {
		t.Fatal(err)
	}
	res, err := routing.Route(t.Context(), engine, f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res.Tables
}

// TestProgressComesToItsEnd, also where there are fewer paths than were asked for: 8 hosts and 6 switches have 14*13.
func TestProgressComesToItsEnd(t *testing.T) {
	programs(t, "echo it does not work >&2; exit 1")
	for _, c := range [][2]int{{1000, 14*13 + 2}, {3, 5}} {
		last, total := -1, 0
		checks, err := Run(t.Context(), Options{Tables: tables(t), Traces: c[0], Progress: func(done, of int) {
			if done < last || total != 0 && of != total {
				t.Errorf("%d of %d after %d of %d", done, of, last, total)
			}
			last, total = done, of
		}})
		if err != nil || last != c[1] || total != c[1] {
			t.Errorf("%d traces: %d of %d, want %d, %v", c[0], last, total, c[1], err)
		}
		for i := range checks[:2] {
			if !strings.Contains(checks[i].NotCompared, "it does not work") {
				t.Errorf("%+v", checks[i])
			}
		}
	}
}

// TestAnInterruptEndsAProgram that waits, and all is over then.
func TestAnInterruptEndsAProgram(t *testing.T) {
	began := filepath.Join(t.TempDir(), "began")
	programs(t, "touch "+began+"; sleep 1000")
	why := errors.New("interrupted by the test")
	ctx, stop := context.WithCancelCause(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := Run(ctx, Options{Tables: tables(t), Traces: 3})
		ended <- err
	}()
	for {
		if _, err := os.Stat(began); err == nil {
			break
		}
		select {
		case err := <-ended:
			t.Fatalf("it ended by itself: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	stop(why)
	if err := <-ended; !errors.Is(err, why) {
		t.Errorf("%v, want %v", err, why)
	}
}

// TestLongAnswers: a program that does not stop printing is ended, and nothing is compared with what it printed.
func TestLongAnswers(t *testing.T) {
	programs(t, "exec yes")
	checks, err := Run(t.Context(), Options{Tables: tables(t), Traces: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range checks {
		if c := &checks[i]; !strings.Contains(c.NotCompared+strings.Join(c.Differences, ""), "it printed more than") {
			t.Errorf("%+v", c)
		}
	}
}

func TestAProgramThatIsMissing(t *testing.T) {
	if _, err := find("no-such-dump_fts", "no-such-dump_lfts"); !errors.Is(err, errMissing) ||
		!strings.HasPrefix(err.Error(), "no-such-dump_fts or no-such-dump_lfts: ") {
		t.Error(err)
	}
}
