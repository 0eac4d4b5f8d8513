// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/internal/base/plain"
)

// TestExitStatuses checks that help, the manual page and the documents have the same table of exit statuses.
func TestExitStatuses(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "scripting.md"))
	if err != nil {
		t.Fatal(err)
	}
	var help, man bytes.Buffer
	if run([]string{"help"}, streams{out: &help}) != exitDone || run([]string{"man"}, streams{out: &man}) != exitDone {
		t.Fatal("help and man fail")
	}
	table := "| status | meaning |\n|---|---|\n"
	_, list, _ := strings.Cut(help.String(), "\nExit status:\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.SplitSeq(list, "\n") {
		status, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		meaning = strings.TrimSpace(meaning)
		table += "| " + status + " | " + meaning + " |\n"
		if entry := ".TP\n.B " + status + "\n" + meaning + "\n"; !strings.Contains(man.String(), entry) {
			t.Errorf("the manual page has no %q", entry)
		}
	}
	if !strings.Contains(string(doc), table+"\n") {
		t.Errorf("docs/scripting.md does not have the table\n%s", table)
	}
}

// TestFullDisk checks that the texts of the program fail if they cannot be written.
func TestFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = full.Close() }()
	for _, words := range []string{"help", "help trace", "trace --help", "-h", "man", "version", "--version", "schema",
		"schema trace", "completion bash"} {
		var complaint bytes.Buffer
		status := run(strings.Fields(words), streams{out: full, err: &complaint})
		if status != exitFailed || !strings.Contains(complaint.String(), "no space left on device\n") {
			t.Errorf("%s: status %d, error %q", words, status, &complaint)
		}
	}
}

// TestErrorsHaveALine checks that a failure with several causes is one line.
func TestErrorsHaveALine(t *testing.T) {
	var out bytes.Buffer
	newOptions(streams{err: &out}).failed(errors.Join(io.EOF, io.ErrNoProgress))
	if strings.Count(out.String(), "\n") != 1 {
		t.Errorf("%q", &out)
	}
}

// TestNotesAsObjects checks that lines become objects, in any parts in which they are written.
func TestNotesAsObjects(t *testing.T) {
	for size := 1; size < 50; size += 7 {
		var out bytes.Buffer
		w := plain.New(&noteObjects{w: &out})
		text := "ibconsole: the subnet was read\nwarning: a \"name\"\x1b[1m\n"
		for text != "" {
			n := min(size, len(text))
			if _, err := w.Write([]byte(text[:n])); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		want := `{"kind":"note","text":"the subnet was read"}` + "\n" +
			`{"kind":"warning","text":"a \"name\"\\x1b[1m"}` + "\n"
		if out.String() != want {
			t.Errorf("in parts of %d bytes: %s, want %s", size, &out, want)
		}
	}
}
