// SPDX-License-Identifier: Apache-2.0

package trace_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/shell"
	"example.org/ibconsole/shell/answer"
	"example.org/ibconsole/shell/session/sessiontest"
)

func pairsFile(t testing.TB, lines string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pairs")
	if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestInterrupted interrupts a trace of pairs while a switch does not respond. The answer has the pairs that were
// traced before, and the number of the others.
func TestInterrupted(t *testing.T) {
	n := sessiontest.NewSubnet(t, "fattree:2,8")
	s := n.Console()
	n.Sweep(s)
	n.Sim.Silence(n.Fabric.NodesByDescription("leaf-02")[0], true)
	const pairs = 40
	file := pairsFile(t, strings.Repeat("node-0001 node-0032\nnode-0001 node-0005\n", pairs/2)) // at leaf-02
	for _, form := range []string{"", " format=ibtracert"} {
		partial := false
		// The requests to the switch fail after 1.4 s, the others end at once unless the machine is busy.
		for limit := 100 * time.Millisecond; !partial && limit < 1400*time.Millisecond; limit *= 2 {
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			var out strings.Builder
			err := shell.New(s).Run(ctx, "test", "trace live file="+file+form, &shell.Output{
				W: &out, Form: answer.FormJSON,
			})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("after %v: %v: %s", limit, err, out.String())
			}
			partial = out.Len() > 0 && isPartial(t, out.String(), pairs)
		}
		if !partial {
			t.Errorf("%s: no answer with the pairs that were traced", form)
		}
	}
}

// isPartial reports whether the answer has half of the pairs, and checks its counts.
func isPartial(t *testing.T, text string, pairs int) bool {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(text), "\n")
	var head struct {
		Paths, Arrive int
		NotTraced     int `json:"not_traced"`
		Verdict       string
	}
	if err := json.Unmarshal([]byte(lines[0]), &head); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if rows := len(lines) - 2; head.NotTraced == 0 || head.Paths != rows || head.Arrive != rows ||
		head.Paths+head.NotTraced != pairs || head.Verdict != "unknown" {
		t.Errorf("%+v, %d rows", head, rows)
	}
	return head.Paths == pairs/2
}

// BenchmarkLivePairs traces 20,000 pairs through the switches of a simulated fat-tree with 648 hosts.
func BenchmarkLivePairs(b *testing.B) {
	s, file := randomPairs(b, 20_000)
	for name, form := range map[string]answer.Form{"text": answer.FormText, "csv": answer.FormCSV} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := shell.New(s).Run(b.Context(), "bench", "trace live file="+file,
					&shell.Output{W: io.Discard, Form: form}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
