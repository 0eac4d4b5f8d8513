// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"example.org/ibconsole/internal/test/testenv"
)

// TestRepeated reads tables that differ only in their ports and in a few changed bytes. It compares the result with
// that of the same text with a space before each line, which OpenSM skips, so that no entry is treated as a repeated
// one.
func TestRepeated(t *testing.T) {
	r := testenv.Rand(t)
	for range testenv.Count(t, 200, 20_000) {
		var b bytes.Buffer
		for s := range 3 {
			fmt.Fprintf(&b, "Unicast lids [0-9] of switch Lid %d guid 0x%016x ('sw'):\n", s, s+1)
			for lid := 1; lid < 9; lid++ {
				if r.IntN(9) > 0 {
					fmt.Fprintf(&b, "0x%04x %03d # Channel Adapter portguid 0x%016x: 'n%d'\n", lid,
						r.IntN(300), lid, lid)
				}
			}
			fmt.Fprintln(&b, "8 lids dumped")
		}
		text := b.Bytes()
		for range r.IntN(4) {
			const other = "0123456789abcdefxX \n:'#\r"
			text[r.IntN(len(text))] = other[r.IntN(len(other))]
		}
		got, gotErr := ReadLFTs(bytes.NewReader(text), "f")
		want, wantErr := ReadLFTs(strings.NewReader(" "+strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "\n",
			"\n ")+"\n"), "f")
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Fatalf("%q:\n%v, want %v", text, gotErr, wantErr)
		}
		if gotErr == nil && !(reflect.DeepEqual(got.sections, want.sections) &&
			reflect.DeepEqual(got.guids, want.guids) && reflect.DeepEqual(got.runs, want.runs)) {
			t.Fatalf("%q:\n%+v, want %+v", text, got, want)
		}
	}
}
