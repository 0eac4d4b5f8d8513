// SPDX-License-Identifier: Apache-2.0

package formats

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/base/files"
)

const net = `Switch 4 "S1"
[1] "H1"[1]

Ca 1 "H1"
[1] "S1"[1]
`

func put(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	f, err := gen.ParseSpec("fattree:2,4")
	if err != nil {
		t.Fatal(err)
	}
	var lst, topo bytes.Buffer
	if err := osm.WriteSubnet(&lst, f); err != nil {
		t.Fatal(err)
	}
	if err := gen.WriteNet(&topo, f); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"opensm-subnet.lst": lst.String(), "ibsim net": topo.String(),
		"a BOM before it": "\ufeff" + topo.String()} {
		s, err := Read(context.Background(), put(t, text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if len(s.Fabric.EndPorts) != len(f.EndPorts) || len(s.Warnings) != 0 {
			t.Errorf("%s: %d end ports, expected %d; warnings %q", name, len(s.Fabric.EndPorts), len(f.EndPorts),
				s.Warnings)
		}
	}
}

// The lines of OpenSM's dumps are worked out from its source (osm_dump.c).
func TestFileRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			"", "the file is empty, expected a topology file of ibnetdiscover or ibsim, a list of ports of " +
				"iblinkinfo or ibnetdiscover -p, opensm-subnet.lst, a folder or db_csv of ibdiagnet or a snapshot",
		},
		{" \n\n", "the file is empty, expected"},
		{"\x7fELF\x02\x01\x01\x00", "binary data, expected"},
		{
			"Unicast lids [0-5] of switch Lid 2 guid 0x0000000000200000 ('sw1'):\n",
			"forwarding tables (opensm-lfts.dump or ibroute), expected",
		},
		{"dump_ucast_routes: Switch 0x0000000000200000\n", "forwarding tables (opensm.fdbs), expected"},
		{
			"# made by hand\nosm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000200000\n",
			"forwarding tables (opensm.fdbs), expected",
		},
		{"\nSwitch 0x0000000000200000\nLID    : Out Port(s)\n", "multicast tables (opensm.mcfdbs), expected"},
		{"Switch: guid 0x0000000000200000\n", "a lid matrix (opensm-lid-matrix.dump), expected"},
		{"Switch 0x0000000000200000, base LID 3, \"sw1\"\n", "an SL2VL dump (opensm-sl2vl.dump), expected"},
		{"# names\n0x0002c90300000003 \"sw1\"\n", "a list of GUIDs or LIDs, expected"},
		{
			"\x2b\x83\xe7\x8f\x01\x00\x00\x00", "ibnetdiscover's binary cache (--cache), which ibnetdiscover " +
				"--load-cache FILE prints as text, expected",
		},
		{"START_NODES\n", "no node, expected a section START_NODES"},
		{
			"# ibdiagnet\nFile version: 1\nSwitch 0x10\n", "adaptive-routing groups (far), which are read with " +
				"their folder, expected",
		},
		{"hello\n", "no Switch, Ca or Rt record, expected"},
		{"Switch 400 \"S1\"\n[1] \"H1\"[1]\n", `1: bad number of ports "400"`},
		{"{ SW Ports:04 x\n", "1: \"x\", expected SystemGUID:"},
	} {
		path := put(t, c.text)
		s, err := Read(context.Background(), path)
		if err == nil || s.Fabric != nil ||
			!strings.HasPrefix(strings.TrimLeft(strings.TrimPrefix(err.Error(), path+":"), " "), c.want) {
			t.Errorf("%q: %v, expected FILE: %s", c.text, err, c.want)
		}
	}
}

// TestFileCompressed reads a compressed subnet from a file and from standard input.
func TestFileCompressed(t *testing.T) {
	for _, command := range []string{"gzip", "xz", "zstd", "bzip2"} {
		if _, err := exec.LookPath(command); err != nil {
			t.Skip(err)
		}
		cmd := exec.Command(command, "-c")
		cmd.Stdin = strings.NewReader(net)
		packed, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		path := put(t, string(packed))
		in, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		for _, path := range []string{path, "-"} {
			s, err := Read(files.WithInput(t.Context(), in), path)
			if err != nil || len(s.Fabric.Links()) != 1 {
				t.Errorf("%s, %s: %v", command, path, err)
			}
		}
	}
}

func TestFileMissing(t *testing.T) {
	_, err := Read(context.Background(), filepath.Join(t.TempDir(), "none"))
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	_, err = Read(context.Background(), t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "expected a folder of ibdiagnet") {
		t.Errorf("a folder: %v", err)
	}
}

func TestFileCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, put(t, "{ SW Ports:04 ...\n")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestAsIbsim checks that ibsim's rules give other properties than the file states, and that only files of ibsim's
// forms are read by them.
func TestAsIbsim(t *testing.T) {
	path := put(t, strings.NewReplacer(`"H1"[1]`, `"H1"[1] # "h" lid 0 4xNDR`, "[1] \"S1\"",
		"[1](b7) \"S1\"").Replace(net))
	stated, err := Read(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := ReadWith(t.Context(), path, Options{AsIbsim: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		s     Subnet
		speed fabric.Speed
		guid  uint64
		notes int
	}{{stated, fabric.NDR, 0xb7, 0}, {sim, fabric.SDR, 0x100001, 1}} {
		if p := c.s.Fabric.Ports[c.s.Fabric.PortAt(1, 1)]; p.Speed != c.speed || p.GUID != c.guid ||
			len(c.s.Warnings) != c.notes {
			t.Errorf("%+v, warnings %q, expected %v, GUID 0x%x and %d", p, c.s.Warnings, c.speed, c.guid, c.notes)
		}
	}
	if _, err := ReadWith(t.Context(), put(t, "{ SW Ports:04 x\n"), Options{AsIbsim: true}); err == nil ||
		!strings.Contains(err.Error(), "ibsim does not read opensm-subnet.lst; expected an ibsim net") {
		t.Error(err)
	}
}

func TestKind(t *testing.T) {
	for text, want := range map[string]string{
		"osm_ucast_mgr_dump_ucast_routes: Switch 0x0000000000200000\n": "fdbs",
		"dump_ucast_routes: Switch 0x1\n":                              "fdbs",
		"Unicast lids [0-5] of switch Lid 2 guid 0x1 ('sw1'):\n":       "lfts", "Switch: guid 0x1\n": "lid-matrix",
		net:                 "topology",
		"{ SW Ports:04 x\n": "subnet", "": "", "START_NODES\n": "topology",
	} {
		if got := Kind(t.Context(), put(t, text)); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
	if got := Kind(t.Context(), t.TempDir()); got != "" {
		t.Errorf("a folder: %q", got)
	}
}
