// SPDX-License-Identifier: Apache-2.0

package testenv

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestSharedSkipsWhenUnset(t *testing.T) {
	t.Setenv(sharedVar, "")
	if !skips(t, func(t *testing.T) { Shared(t) }) {
		t.Error("Shared did not skip without " + sharedVar)
	}
}

func TestShared(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(sharedVar, dir)
	if got := Shared(t); got != dir {
		t.Errorf("Shared = %s, want %s", got, dir)
	}
	if !skips(t, func(t *testing.T) { SharedFile(t, "absent.net") }) {
		t.Error("SharedFile did not skip for a missing file")
	}
	want := filepath.Join(dir, "present.net")
	if err := os.WriteFile(want, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := SharedFile(t, "present.net"); got != want {
		t.Errorf("SharedFile = %s, want %s", got, want)
	}
}

func TestToolOutsidePath(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "some-tool")
	if err := os.WriteFile(want, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := Tool(t, "some-tool"); got != want {
		t.Errorf("Tool = %s, want %s", got, want)
	}
	t.Setenv(ciVar, "")
	if !skips(t, func(t *testing.T) { Tool(t, "no-such-tool-anywhere") }) {
		t.Error("Tool did not skip for a program that is not installed")
	}
}

func TestToolVersion(t *testing.T) {
	dir := t.TempDir()
	want := filepath.Join(dir, "some-tool")
	script := "#!/bin/sh\necho usage: $*\necho $0 1.20\nexit 1\n"
	if err := os.WriteFile(want, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := ToolVersion(t, "some-tool", "1.20", "-h"); got != want {
		t.Errorf("ToolVersion = %s, want %s", got, want)
	}
	if !skips(t, func(t *testing.T) { ToolVersion(t, "some-tool", "1.2", "-h") }) {
		t.Error("ToolVersion did not skip for a different version")
	}
}

func TestCount(t *testing.T) {
	t.Setenv(fullVar, "")
	if got := Count(t, 3, 300); got != 3 {
		t.Errorf("sample: Count = %d, want 3", got)
	}
	t.Setenv(fullVar, "1")
	if got := Count(t, 3, 300); got != 300 {
		t.Errorf("full: Count = %d, want 300", got)
	}
}

func TestLength(t *testing.T) {
	for _, c := range []struct {
		full, story string
		want        time.Duration
	}{{"", "", time.Second}, {"1", "", time.Hour}, {"1", "5m", 5 * time.Minute}, {"", "5m", 5 * time.Minute}} {
		t.Setenv(fullVar, c.full)
		t.Setenv(storyVar, c.story)
		if got := Length(t, time.Second, time.Hour); got != c.want {
			t.Errorf("%s=%q, %s=%q: Length = %v, want %v", fullVar, c.full, storyVar, c.story, got, c.want)
		}
	}
}

func TestRandReplays(t *testing.T) {
	t.Setenv(seedVar, "42")
	a, b := Rand(t), Rand(t)
	for range 8 {
		if x, y := a.Uint64(), b.Uint64(); x != y {
			t.Fatalf("the same seed gave %d and %d", x, y)
		}
	}
	t.Setenv(seedVar, "43")
	if Rand(t).Uint64() == b.Uint64() {
		t.Error("a different seed gave the same number")
	}
}

func TestRandOfSamples(t *testing.T) {
	t.Setenv(seedVar, "")
	t.Setenv(fullVar, "")
	if Rand(t).Uint64() != Rand(t).Uint64() {
		t.Error("two runs of a sample draw differently")
	}
	t.Setenv(fullVar, "1")
	if Rand(t).Uint64() == Rand(t).Uint64() {
		t.Error("two full runs draw the same")
	}
}

// skips runs f as a subtest and reports whether it skipped.
func skips(t *testing.T, f func(*testing.T)) bool {
	t.Helper()
	skipped := false
	t.Run("expected to skip", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		f(t)
	})
	return skipped
}
