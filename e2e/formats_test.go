// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// kept unpacks the files of a release into a state directory, and returns the folders of both.
func kept(t *testing.T, release string) (dir, state string) {
	t.Helper()
	dir, home := t.TempDir(), t.TempDir()
	t.Setenv("XDG_STATE_HOME", home)
	state = filepath.Join(home, "ibconsole")
	if err := os.Mkdir(state, 0o700); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join("testdata/formats", release, "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(dir, filepath.Base(file))
		if name, packed := strings.CutSuffix(filepath.Base(file), ".gz"); packed {
			z, err := gzip.NewReader(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			if data, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
			to = filepath.Join(state, name)
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, state
}

// TestOlderFormats reads the files of earlier releases: the subnet was sim:fattree:2,4 with 14 nodes and 16 links, of
// which leaf-01/3 failed in the simulation before the commit.
func TestOlderFormats(t *testing.T) {
	releases, err := os.ReadDir("testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range releases {
		if !r.IsDir() {
			continue
		}
		dir, _ := kept(t, r.Name())
		const source = "sim:fattree:2,4"
		snap := filepath.Join(dir, "subnet.snap")
		for _, x := range []struct{ source, command, want string }{
			{source, "history list", "commit, done"},
			{source, "history show 2", "minhop"},
			{source, "diff 1 2", "entries"},
			{source, "check reach of=2", "56 arrive"},
			{source, "counters worst by=traffic since=2026-01-01", "no port counted any"},
			{source, "record status", "recorded from 2026-"},
			{"file:" + snap, "summary", "6 switches"},
			{"file:" + snap, "trace node-0001 node-0008", "delivered over"},
			{"file:" + snap, "paths query node-0001 node-0008 file=" + filepath.Join(dir, "paths.db"), "8"},
			{"file:" + snap, "resilience merge " + filepath.Join(dir, "resilience.json"), "failures"},
		} {
			if out := ibconsole(t, "-s", x.source, "-c", x.command); !strings.Contains(out, x.want) {
				t.Errorf("%s, %s: %s, want %q in it", r.Name(), x.command, out, x.want)
			}
		}
	}
}

// TestNewerFormats checks that a file of a later release is rejected with a message and stays unchanged.
func TestNewerFormats(t *testing.T) {
	dir, state := kept(t, "first")
	ctx := context.Background()
	for _, name := range []string{"history.db", "records.db"} {
		db, err := sql.Open("sqlite", filepath.Join(state, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err = db.ExecContext(ctx, "PRAGMA user_version = 999"); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		name    string
		version int // its offset
	}{{"subnet.snap", 7}, {"paths.db", 7}} {
		file := filepath.Join(dir, x.name)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		data[x.version] = 99
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const source = "sim:fattree:2,4"
	for _, x := range []struct{ file, source, command string }{
		{filepath.Join(state, "history.db"), source, "history list"},
		{filepath.Join(state, "records.db"), source, "counters worst since=2026-01-01"},
		{filepath.Join(dir, "subnet.snap"), "file:" + filepath.Join(dir, "subnet.snap"), "summary"},
		{filepath.Join(dir, "paths.db"), source, "paths info " + filepath.Join(dir, "paths.db")},
	} {
		before, err := os.ReadFile(x.file)
		if err != nil {
			t.Fatal(err)
		}
		got := try("-s", x.source, "-c", x.command)
		if got.status == 0 || !strings.Contains(got.err, "version") {
			t.Errorf("%s: %s%s", x.file, got.out, got.err)
		}
		if after, err := os.ReadFile(x.file); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed, %v", x.file, err)
		}
	}
}
