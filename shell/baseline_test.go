// SPDX-License-Identifier: Apache-2.0

package shell_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session/sessiontest"
)

// TestBaselineChanges: each command that answers with a baseline lists what the live subnet has otherwise, as text and
// as JSON. The file is the live subnet without one link.
func TestBaselineChanges(t *testing.T) {
	dir := t.TempDir()
	whole, less, saved := filepath.Join(dir, "whole"), filepath.Join(dir, "less"), filepath.Join(dir, "saved")
	if out, err := on(t, "sim:fattree:2,4", "dump topology "+whole, "fail link leaf-01 3", "dump topology "+less+
		" of=whatif"); err != nil {
		t.Fatal(err, out)
	}
	s := sessiontest.Open(t, "file:"+whole)
	for _, c := range []struct {
		script string
		want   int
	}{
		{"baseline load " + less, 1}, {"baseline show", 1}, {"baseline load " + whole, 0}, {"baseline show", 0},
		{"baseline save " + saved, 0},
	} {
		var text, object bytes.Buffer
		for _, out := range []*shell.Output{{W: &text}, {W: &object, Form: answer.FormJSON}} {
			if err := shell.New(s).Run(t.Context(), "test", c.script, out); err != nil {
				t.Fatal(err)
			}
		}
		var a struct {
			Changes  []struct{ Change string }
			Compared bool
		}
		if err := json.Unmarshal(object.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		// or that it is alike
		if n := bytes.Count(text.Bytes(), []byte("\n  ")); len(a.Changes) != c.want || n != max(c.want, 1) ||
			!a.Compared {
			t.Errorf("%s: want %d changes, got %s%s", c.script, c.want, text.Bytes(), object.Bytes())
		}
	}
}
