// SPDX-License-Identifier: Apache-2.0

package snapshot_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"example.org/ibconsole/fabric/formats/snapshot"
)

// TestBomb reads snapshots whose stated sizes exceed the limits: of a section, of its name, or of all sections.
func TestBomb(t *testing.T) {
	sized := func(name string, n uint64) []byte {
		return binary.AppendUvarint(append(binary.AppendUvarint(nil, uint64(len(name))), name...), n)
	}
	for want, head := range map[string][]byte{
		"fabric: its uncompressed size is 6144 MB, expected at most 64": sized("fabric", 6<<30),
		"x: its uncompressed size is 6144 MB, expected at most 896":     sized("x", 6<<30),
		"a section without a name":                                      binary.AppendUvarint(nil, 6<<30),
		"truncated":                                                     sized("x", 8<<20),
		// The SM's port takes one byte, the number of nodes three.
		"fabric: 1048576, expected at most 131072 (at byte 4 of 9 of the section)": binary.AppendUvarint(
			append(sized("fabric", 9), 0), 1<<20),
	} {
		var b bytes.Buffer
		b.WriteString(snapshot.Magic)
		z, err := zstd.NewWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = z.Write(append(head, make([]byte, 4<<20)...))
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := snapshot.Read(&b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
