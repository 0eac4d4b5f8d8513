// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/test/testenv"
)

type slFunc func(src, dst uint16) uint8

func (f slFunc) SL(src, dst uint16) uint8 { return f(src, dst) }

func TestPathSLsRoundTrip(t *testing.T) {
	rnd := testenv.Rand(t)
	f, _ := made(t, "random:40,3,90")
	lids := int(f.MaxLID) + 1
	random := make([]uint8, lids*lids)
	for i := range random {
		random[i] = uint8(max(0, rnd.IntN(20)-4))
	}
	for name, sls := range map[string]fabric.PathSLs{
		"none":   slFunc(func(_, _ uint16) uint8 { return 0 }),
		"blocks": slFunc(func(src, dst uint16) uint8 { return uint8(src/20+dst/15) & 7 }),
		"parity": slFunc(func(src, _ uint16) uint8 { return uint8(src & 1) }),
		"random": slFunc(func(src, dst uint16) uint8 { return random[int(src)*lids+int(dst)] }),
	} {
		var b bytes.Buffer
		if err := WritePathSLs(&b, f, sls); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		got, err := ReadPathSLs(&b, "f")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for src := uint16(1); src <= f.MaxLID; src++ {
			for dst := uint16(1); dst <= f.MaxLID; dst++ {
				if got.SL(src, dst) != sls.SL(src, dst) {
					t.Fatalf("%s: SL %d from %d to %d, want %d", name, got.SL(src, dst), src, dst, sls.SL(src, dst))
				}
			}
		}
		if got.SL(0, 1) != 0 || got.SL(0xbfff, 1) != 0 || got.SL(1, 0xffff) != 0 {
			t.Errorf("%s: LIDs without an owner have an SL", name)
		}
		// Half of the 130 LIDs are odd: 65 ranges, which is one more than a line holds.
		if lines := strings.Count(text, "\n"); name == "parity" && lines != 5 {
			t.Errorf("%d lines:\n%s", lines, text)
		}
	}
}

func TestPathSLsByHand(t *testing.T) {
	const text = "# x\n\nfrom 1-2,7\nto 3-5 1\nto 6 2\r\nfrom 3\n"
	p, err := ReadPathSLs(strings.NewReader(text), "f")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		src, dst uint16
		want     uint8
	}{{1, 2, 0}, {1, 3, 1}, {2, 5, 1}, {7, 6, 2}, {7, 7, 0}, {3, 3, 0}, {4, 3, 0}, {6, 4, 0}} {
		if got := p.SL(tc.src, tc.dst); got != tc.want {
			t.Errorf("SL %d from %d to %d, want %d", got, tc.src, tc.dst, tc.want)
		}
	}
}

func TestReadPathSLsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "f:1: the file is empty",
		"from 1":                     "f:1: the file is truncated",
		"to 1 1\n":                   "f:1: destinations before any source",
		"from\n":                     "f:1: cannot parse",
		"from x\n":                   "f:1: cannot parse LIDs",
		"from 0\n":                   "f:1: LIDs 0 to 0",
		"from 1-49152\n":             "f:1: LIDs 1 to 49152",
		"from 5-4\n":                 "f:1: LIDs 5 to 4",
		"from 1-\n":                  "f:1: cannot parse LIDs",
		"from 1;2\n":                 "f:1: cannot parse \";2\"",
		"from 1,2\n\nfrom 2\n":       "f:3: LID 2 is listed as a source twice",
		"from 1\nto 2 16\n":          "f:2: cannot parse SL",
		"from 1\nto 2\n":             "f:2: cannot parse SL",
		"from 1\nto 2 1 1\n":         "f:2: cannot parse SL",
		"from 1\nto 2-4 1\nto 4 1\n": "f:3: LID 4 is not greater than LID 4",
		"hello\n":                    "f:1: cannot parse \"hello\"",
	} {
		if _, err := ReadPathSLs(strings.NewReader(text), "f"); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func FuzzReadPathSLs(f *testing.F) {
	f.Add("from 1-2,7\nto 3-5 1\nto 6 2\n")
	f.Add("# service levels of paths\nfrom 49151\nto 1 15\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ReadPathSLs(strings.NewReader(text), "f")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Errorf("error without file and line: %v", err)
			}
			return
		}
		for _, lid := range []uint16{0, 1, 7, 0xbfff, 0xffff} {
			if p.SL(lid, lid) > 15 {
				t.Error("an SL above 15")
			}
		}
	})
}
