// SPDX-License-Identifier: Apache-2.0

package resilience

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// TestChecksum changes each byte of a report, truncates it, and removes its checksum.
func TestChecksum(t *testing.T) {
	var out bytes.Buffer
	r := Report{Kind: Links, Fabric: "f", Routing: "r", Failures: 2, Done: 2, Shards: 1, Shard: []int{1},
		Failed: []Verdict{{Name: "a/1 -- b/2", Lost: 3}}}
	if err := r.Write(&out); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if got, err := Read(strings.NewReader(text), "x"); err != nil || got.Unchecked || got.Failed[0] != r.Failed[0] {
		t.Fatalf("%+v, %v", got, err)
	}
	for i := range len(text) - 1 { // the last is a newline
		changed := []byte(text)
		changed[i] ^= 1
		if got, err := Read(bytes.NewReader(changed), "x"); err == nil && !got.Unchecked {
			t.Errorf("byte %d changed: %s is accepted", i, changed)
		}
		if _, err := Read(strings.NewReader(text[:i]), "x"); err == nil {
			t.Errorf("accepted although truncated after %d bytes", i)
		}
	}
	_, err := Read(strings.NewReader(strings.Replace(text, `"lost_paths":3`, `"lost_paths":0`, 1)), "x")
	if !errors.Is(err, ErrDamaged) || !strings.HasPrefix(err.Error(), "x: damaged or edited: its checksum is ") {
		t.Error(err)
	}
	old, _, _ := strings.Cut(text, checksum)
	if got, err := Read(strings.NewReader(old+"}"), "x"); err != nil || !got.Unchecked {
		t.Errorf("an old report: %+v, %v", got, err)
	}
	if _, err := Read(strings.NewReader(strings.Replace(old, "a/1", `a\n1`, 1)+"}"), "x"); err == nil {
		t.Error("a name with a newline is accepted")
	}
}
