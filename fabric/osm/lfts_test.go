// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/minhop"
)

// made makes a fabric with LIDs, and its ibsim net file.
func made(t testing.TB, spec string) (*fabric.Fabric, string) {
	t.Helper()
	f, err := gen.ParseSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := gen.WriteNet(&b, f); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "made.net")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	return f, file
}

func TestX(t *testing.T) {
	f, file := made(t, os.Getenv("SPEC"))
	sim := ibsimtest.Start(t, file)
	dir := ibsimtest.OpenSM(t, sim, strings.Fields(os.Getenv("ARGS"))...)
	r, err := os.ReadFile(filepath.Join(dir, "opensm-lfts.dump"))
	if err != nil {
		t.Fatal(err)
	}
	file2, err := ReadLFTs(bytes.NewReader(r), "opensm-lfts.dump")
	if err != nil {
		t.Fatal(err)
	}
	tb, rep, err := file2.Apply(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(rep.Lines(), rep)
	var b bytes.Buffer
	if err := WriteLFTs(&b, tb); err != nil {
		t.Fatal(err)
	}
	save := func(name string, b []byte) {
		want, _ := os.ReadFile(filepath.Join(dir, name))
		if !bytes.Equal(b, want) {
			t.Errorf("%s differs", name)
		}
		os.WriteFile("/tmp/g/"+name+".got", b, 0o644)
		os.WriteFile("/tmp/g/"+name+".want", want, 0o644)
	}
	save("opensm-lfts.dump", b.Bytes())
	res, err := minhop.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := WriteFDBs(&b, tb, res.Hops, nil); err != nil {
		t.Fatal(err)
	}
	save("opensm.fdbs", b.Bytes())
	b.Reset()
	if err := WriteLIDMatrix(&b, f, res.Hops); err != nil {
		t.Fatal(err)
	}
	save("opensm-lid-matrix.dump", b.Bytes())
	b.Reset()
	WriteLFTs(&b, res.Tables)
	want, _ := os.ReadFile(filepath.Join(dir, "opensm-lfts.dump"))
	t.Log("minhop equal", bytes.Equal(b.Bytes(), want))
}
