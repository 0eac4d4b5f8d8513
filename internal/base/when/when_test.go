// SPDX-License-Identifier: Apache-2.0

package when

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestParse parses times at 03:30 of a Sunday. The expected times were worked out by hand.
func TestParse(t *testing.T) {
	now := time.Date(2026, 11, 22, 3, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"now": "2026-11-22 03:30:00", "03:00": "2026-11-22 03:00:00", "03:20:07": "2026-11-22 03:20:07",
		"23:50":           "2026-11-21 23:50:00",
		"yesterday 22:00": "2026-11-21 22:00:00", "yesterday": "2026-11-21 00:00:00",
		"today 04:00": "2026-11-22 04:00:00", "20m": "2026-11-22 03:10:00", "90s": "2026-11-22 03:28:30",
		"2h": "2026-11-22 01:30:00", "3d": "2026-11-19 03:30:00",
		"2w": "2026-11-08 03:30:00", "0d": "2026-11-22 03:30:00",
		"2026-11-20": "2026-11-20 00:00:00", "2026-11-20T04:05": "2026-11-20 04:05:00",
		"2026-11-20 04:05:06": "2026-11-20 04:05:06", "2026-11-20T04:05:06+02:00": "2026-11-20 02:05:06",
	} {
		if got, err := Parse(text, now); err != nil || got.UTC().Format(time.DateTime) != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "25:00", "-5m", "-1d", "yesterday 25:00", "tomorrow", "2026-13-01", "99999999d"} {
		if got, err := Parse(text, now); err == nil {
			t.Errorf("%s is %v", text, got)
		}
	}
}

// TestParseAhead parses times after 03:30 of a Sunday. The expected times were worked out by hand.
func TestParseAhead(t *testing.T) {
	now := time.Date(2026, 11, 22, 3, 30, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"06:00": "2026-11-22 06:00:00", "03:00": "2026-11-23 03:00:00", "2h": "2026-11-22 05:30:00",
		"3d": "2026-11-25 03:30:00", "1w": "2026-11-29 03:30:00", "2026-12-01": "2026-12-01 00:00:00",
	} {
		if got, err := ParseAhead(text, now); err != nil || got.Format(time.DateTime) != want {
			t.Errorf("%s: %v, %v; want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "now", "0d", "yesterday", "2026-11-20", "-2h", "x"} {
		if got, err := ParseAhead(text, now); err == nil {
			t.Errorf("%s is %v", text, got)
		}
	}
}

// TestFormat compares Format with a search for another time that has the same text, around changes of clocks in
// several zones.
func TestFormat(t *testing.T) {
	for _, name := range []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Skip(err)
		}
		for at := time.Date(2026, 1, 1, 0, 5, 7, 0, zone); at.Year() == 2026; at = at.Add(10 * time.Minute) {
			plain, unique := at.Format(time.DateTime), true
			for d := -3 * time.Hour; d <= 3*time.Hour; d += 10 * time.Minute {
				other := at.Add(d)
				unique = unique && (other.Equal(at) || other.Format(time.DateTime) != plain)
			}
			want := plain
			if !unique {
				want = at.Format("2006-01-02 15:04:05 -07:00")
			}
			got := format(at, time.DateTime)
			if got != want {
				t.Fatalf("%s: %v is %q, want %q", name, at.UTC(), got, want)
			}
			if back, err := Parse(got, at.Add(time.Hour)); err != nil || !back.Equal(at) {
				t.Fatalf("%s: %q is parsed as %v, %v", name, got, back, err)
			}
		}
	}
}

// TestTextsHaveOffsets checks that the program formats times for people only with this package. The exceptions are
// formats of other programs.
func TestTextsHaveOffsets(t *testing.T) {
	direct := regexp.MustCompile(`\.Format\((time\.(DateTime|TimeOnly|Kitchen|Stamp)|"[^"]*15:04[^"]*")\)`)
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "scripts" || strings.HasSuffix(path, "fabric/formats")):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, m := range direct.FindAll(text, -1) {
			if !strings.HasSuffix(path, "audit.go") { // syslog
				t.Errorf("%s: %s", path, m)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
