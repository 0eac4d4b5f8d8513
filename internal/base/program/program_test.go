// SPDX-License-Identifier: Apache-2.0

package program_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/internal/base/program"
)

func shell(script string) program.Program {
	return program.Program{Path: "/bin/sh", Args: []string{"-c", script}, Time: time.Minute, Bytes: 1 << 20,
		Grace: time.Second}
}

// TestBounds checks that output beyond the limit is dropped, however it is written, and ends the program.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		script, why  string
		out, errText int // bytes
	}{
		{"printf abc; printf de >&2", "", 3, 2},
		{"head -c 1048576 /dev/zero", "", 1 << 20, 0},
		{"head -c 1048577 /dev/zero", "it printed more than 1048576 bytes", 1 << 20, 0},
		{"printf x; yes; true", "it printed more than 1048576 bytes", 1 << 20, 0},
		{"yes | head -c 100000000 >&2", "", 0, 64 << 10},
		{"printf x; exit 3", "exit status 3", 1, 0},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p := shell(c.script)
		out, errText, err := p.Output(t.Context())
		runtime.ReadMemStats(&after)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if len(out) != c.out || len(errText) != c.errText || text != c.why {
			t.Errorf("%s: %d and %d bytes, %q", c.script, len(out), len(errText), text)
		}
		if more := after.TotalAlloc - before.TotalAlloc; more > 16<<20 {
			t.Errorf("%s: %d bytes were allocated", c.script, more)
		}
	}
}

// TestEnds checks that a program ends with its children when its time is over or its context ends.
func TestEnds(t *testing.T) {
	p := shell("sleep 1000 & sleep 1000")
	p.Time = 50 * time.Millisecond
	begun := time.Now()
	if _, _, err := p.Output(t.Context()); err == nil || !strings.Contains(err.Error(), "it took more than 50ms") {
		t.Error(err)
	}
	why := errors.New("stopped by the test")
	ctx, stop := context.WithCancelCause(t.Context())
	time.AfterFunc(50*time.Millisecond, func() { stop(why) })
	p.Time = time.Minute
	if _, _, err := p.Output(ctx); !errors.Is(err, why) {
		t.Error(err)
	}
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}
