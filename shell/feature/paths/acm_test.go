// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"bufio"
	"bytes"
	"context"
	"strconv"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/lash"
	"example.org/ibconsole/routing/paths"
)

// TestWriteForACM reads the file as ibacm does and compares it with the database. In rdma-core's acmp.c a section
// begins with the type of node, a GUID and a LID. The lines below it are destination, SL, MTU and rate, separated by
// colons.
func TestWriteForACM(t *testing.T) {
	f, err := gen.ParseSpec("torus:3x3")
	if err != nil {
		t.Fatal(err)
	}
	if f, err = fabric.AssignLIDs(f); err != nil {
		t.Fatal(err)
	}
	res, err := lash.Engine{}.Route(context.Background(), f, routing.Options{})
	if err != nil {
		t.Fatal(err)
	}
	image, err := paths.Build(t.Context(), res.Tables, paths.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := pathdb.Parse(image)
	if err != nil {
		t.Fatal(err)
	}
	v := db.View()
	var b bytes.Buffer
	if err := writeForACM(t.Context(), &b, v, func(pathdb.PortIndex) bool { return true }); err != nil {
		t.Fatal(err)
	}
	src, lines := uint16(0), 0
	for s := bufio.NewScanner(&b); s.Scan(); {
		line := s.Text()
		if len(line) >= 127 {
			t.Errorf("line of %d bytes, ibacm reads at most 127: %s", len(line), line)
		}
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "Switch ") || strings.HasPrefix(line, "Channel Adapter "):
			_, rest, _ := strings.Cut(line, "base LID ")
			number, _, _ := strings.Cut(rest, ",")
			src = uint16(number16(t, number))
			guid := strings.TrimSuffix(strings.Fields(strings.TrimPrefix(line, "Channel Adapter"))[0], ",")
			if line[0] == 'S' {
				guid = strings.TrimSuffix(strings.Fields(line)[1], ",")
			}
			if got := f.Ports[f.PortByLID(src)].GUID; got != number16(t, guid) {
				t.Errorf("LID %d has GUID 0x%x, not that of: %s", src, got, line)
			}
		default:
			fields := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ':' })
			want, err := v.Query(src, uint16(number16(t, fields[0])), pathdb.Want{})
			if err != nil || number16(t, fields[1]) != uint64(want.SL) || number16(t, fields[2]) != uint64(want.MTU) ||
				number16(t, fields[3]) != uint64(want.Rate) {
				t.Errorf("from LID %d: %s, want %+v, %v", src, line, want, err)
			}
			lines++
		}
	}
	if want := len(f.EndPorts) * len(f.EndPorts); lines != want {
		t.Errorf("%d lines, want %d", lines, want)
	}
}

func number16(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
