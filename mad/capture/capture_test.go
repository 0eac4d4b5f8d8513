// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
)

// key is at every place of the packets below that must be hidden, and nowhere else.
const key = 0x5ec2e7c0de5ec2e7

// line is a transport whose other end is the test: sent frames are dropped, received ones come from the test.
type line struct{ in chan mad.Frame }

func newLine() *line                    { return &line{in: make(chan mad.Frame, 64)} }
func (l *line) Send(*mad.Frame) error   { return nil }
func (l *line) Close() error            { return nil }
func (l *line) Recv(f *mad.Frame) error { *f = <-l.in; return nil }

// arrive delivers a frame through at.
func (l *line) arrive(t *testing.T, at *Transport, f mad.Frame) {
	t.Helper()
	l.in <- f
	var got mad.Frame
	if err := at.Recv(&got); err != nil || got != f {
		t.Fatalf("received %v (%v), want %v", got, err, f)
	}
}

func start(t *testing.T, tr *Transport) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "capture.pcap")
	if err := tr.Start(path, Options{}); err != nil {
		t.Fatal(err)
	}
	return path
}

func stop(t *testing.T, tr *Transport) Stats {
	t.Helper()
	stats, err := tr.Stop()
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// records checks the headers of a capture and returns its packets from the LRH on.
func records(t *testing.T, path string) [][]byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(b, appendFileHeader(nil)) || (len(b)-fileHeaderLen)%recordLen != 0 {
		t.Fatalf("%d bytes, no header or half a record", len(b))
	}
	var out [][]byte
	for b = b[fileHeaderLen:]; len(b) > 0; b = b[recordLen:] {
		out = append(out, b[pcapLen+erfLen:recordLen])
	}
	return out
}

// runTshark runs tshark on a capture and returns what it prints.
func runTshark(t *testing.T, path string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testenv.Tool(t, "tshark"), append([]string{"-n", "-r", path}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("tshark: %v", err)
	}
	return string(out)
}

// wellFormed fails the test if tshark reports a fault in a packet.
func wellFormed(t *testing.T, path string) {
	t.Helper()
	for line := range strings.Lines(runTshark(t, path, "-V")) {
		if strings.Contains(line, "RMPP Flags: Unknown (0x0)") {
			continue // the flags of a MAD without RMPP
		}
		for _, bad := range []string{"Malformed", "Unknown", "unknown", "[Expert Info", "Exception"} {
			if strings.Contains(line, bad) {
				t.Errorf("tshark: %s", line)
			}
		}
	}
}

// tshark returns the values of the fields of each packet of a capture.
func tshark(t *testing.T, path string, fields ...string) [][]string {
	t.Helper()
	args := []string{"-T", "fields", "-E", "occurrence=a", "-E", "aggregator=;"}
	for _, f := range fields {
		args = append(args, "-e", "infiniband."+f)
	}
	var rows [][]string
	for row := range strings.Lines(runTshark(t, path, args...)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(row, "\n"), "\t"))
	}
	return rows
}

// number parses a number printed by tshark.
func number(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatalf("tshark says %q for a number", s)
	}
	return n
}
