// SPDX-License-Identifier: Apache-2.0

package audit

import (
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// socket opens the socket of a log and returns a function that receives the next record.
func socket(t *testing.T) (path string, next func() string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "s")
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return path, func() string {
		b := make([]byte, 1<<16)
		if err := c.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		return string(b[:n])
	}
}

func TestJournaldGetsFieldsOfALineEach(t *testing.T) {
	path, next := socket(t)
	t.Setenv("SUDO_USER", "anna")
	if err := (Log{Journal: path}).Write(&Record{Action: "commit", Subnet: "umad port 0x1\nPRIORITY=0", Before: "aa",
		After: "bb", Result: "done"}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(next(), "\n"), "\n")
	for _, want := range []string{
		"IBCONSOLE_ACTION=commit", "IBCONSOLE_SUBNET=umad port 0x1 PRIORITY=0", "IBCONSOLE_BEFORE=aa",
		"IBCONSOLE_AFTER=bb",
		"IBCONSOLE_RESULT=done", "IBCONSOLE_SUDO_USER=anna", "PRIORITY=5", "SYSLOG_IDENTIFIER=ibconsole",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("%q is not among %q", want, lines)
		}
	}
	if slices.Contains(lines, "PRIORITY=0") {
		t.Error("a value became a field")
	}
}

func TestSyslogWithoutJournald(t *testing.T) {
	path, next := socket(t)
	l := Log{Journal: filepath.Join(t.TempDir(), "none"), Syslog: path}
	if err := l.Write(&Record{Action: "write on", Subnet: "s", Result: "no", Failed: true}); err != nil {
		t.Fatal(err)
	}
	// 84 is the facility authpriv (10) and the severity warning (4): RFC 5424, 6.2.1.
	if text := next(); !strings.HasPrefix(text, "<84>") ||
		!strings.Contains(text, `action="write on" subnet="s" result="no" uid="`) {
		t.Errorf("%q", text)
	}
	l.Syslog = l.Journal
	if err := l.Write(&Record{}); err == nil {
		t.Error("no log, and no error")
	}
}
