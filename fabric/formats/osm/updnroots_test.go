// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// TestWriteUpdnRoots gives OpenSM roots and compares what it writes of them.
func TestWriteUpdnRoots(t *testing.T) {
	f, err := gen.ParseSpec("random:20,6,60,seed=3")
	if err != nil {
		t.Fatal(err)
	}
	roots := []fabric.SwitchIndex{17, 3, 9, 3}
	var given, want bytes.Buffer
	for _, sw := range roots {
		fmt.Fprintf(&given, "0x%016x\n", f.SwitchNode(sw).GUID)
	}
	name := filepath.Join(t.TempDir(), "roots")
	writeFile(t, name, given.Bytes())
	dir := ibsimtest.OpenSM(t, ibsimtest.Start(t, netFile(t, f)), "-R", "updn", "-a", name)
	if err := WriteUpdnRoots(&want, f, roots); err != nil {
		t.Fatal(err)
	}
	got := dump(t, dir, "opensm-updn-roots.dump")
	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("OpenSM writes\n%s\nwe write\n%s", got, want.Bytes())
	}
	var read []fabric.SwitchIndex
	for _, guid := range mustRead(t, got).GUIDs() {
		read = append(read, f.SwitchByGUID(guid))
	}
	if want := []fabric.SwitchIndex{3, 9, 17}; !slices.Equal(read, want) {
		t.Errorf("read back: %v, expected %v", read, want)
	}
}
