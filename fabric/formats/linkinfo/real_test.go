// SPDX-License-Identifier: Apache-2.0

package linkinfo_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/ibnet"
	"example.org/ibconsole/fabric/formats/linkinfo"
	"example.org/ibconsole/fabric/gen"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// mixed has two ports of one adapter, names with quotes and brackets, rates, a router and ports that are down.
const mixed = `
Switch 6 "S1" # "leaf \"1\" (rack 'a')"
[1] "S2"[1] # "S2" lid 0 4xEDR
[2] "H1"[1] # "h" lid 0 4xHDR
[3] "R1"[1]
[4] "S2"[2] # "S2" lid 0 4xFDR

Switch 4 "S2"
[1] "S1"[1] # "S1" lid 0 4xEDR
[2] "S1"[4] # "S1" lid 0 4xFDR
[3] "H1"[2] # "h" lid 0 12xQDR
[4] "H2"[1] # "h" lid 0 1xDDR

Ca 2 "H1" # "host one ==> ( HCA-1)"
[1] "S1"[2] # lid 0 lmc 0 "S1" lid 0 4xHDR
[2] "S2"[3] # lid 0 lmc 0 "S2" lid 0 12xQDR

Ca 1 "H2" # "host ( 'two' ) [1] HCA-1 with a name of forty and more letters"
[1] "S2"[4] # lid 0 lmc 0 "S1" lid 0 1xDDR

rtguid=0x300000
Rt 1 "R1" # "router:"
[1] "S1"[3]
`

func sources(t *testing.T) map[string]string {
	t.Helper()
	files, dir := map[string]string{}, t.TempDir()
	put := func(name string, text []byte) {
		files[name] = filepath.Join(dir, fmt.Sprintf("%d.net", len(files)))
		if err := os.WriteFile(files[name], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("mixed", []byte(mixed))
	for _, spec := range []string{"fattree:2,8", "torus:4x3"} {
		f, err := gen.ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := gen.WriteNet(&b, f); err != nil {
			t.Fatal(err)
		}
		put(spec, b.Bytes())
	}
	if os.Getenv("IBCONSOLE_SHARED") != "" {
		for _, name := range []string{"real-qdr-11sw.topo", "real-fdr10-8sw.topo"} {
			files[name] = testenv.SharedFile(t, "fabrics/"+name)
		}
	}
	return files
}

// TestAgainstIbnetdiscover compares the output of iblinkinfo and ibnetdiscover -p over ibsim with the fabric that
// ibnetdiscover prints there, with LIDs and without.
func TestAgainstIbnetdiscover(t *testing.T) {
	testenv.ToolVersion(t, "ibsim", "0.10", "-h")
	for name, path := range sources(t) {
		t.Run(name, func(t *testing.T) {
			sim := ibsimtest.Start(t, path)
			sameNodes(t, sim, "iblinkinfo") // whose nodes have no LIDs
			ibsimtest.OpenSM(t, sim)
			for _, only := range []string{"iblinkinfo --switches-only", "iblinkinfo --cas-only"} {
				sameNodes(t, sim, only)
			}
			file, err := ibnet.Read(context.Background(), strings.NewReader(sim.Output("ibnetdiscover")),
				"ibnetdiscover", ibnet.Options{Strict: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, tool := range [][]string{{"ibnetdiscover", "-p"}, {"iblinkinfo"}, {"iblinkinfo", "-l"},
				{"iblinkinfo", "-p"}, {"iblinkinfo", "-l", "-p"}, {"iblinkinfo", "-l", "--switches-only"}} {
				text := sim.Output(tool[0], tool[1:]...)
				f, _, err := linkinfo.Read(context.Background(), strings.NewReader(text), "list", nil)
				if err != nil {
					t.Errorf("%v: %v", tool, err)
					continue
				}
				typed := !slices.Contains(tool, "-l")
				got, want := listed(f, typed), listed(file.Fabric, typed)
				if !slices.Equal(got, want) {
					t.Errorf("%v: %d lines, expected %d", tool, len(got), len(want))
					for i := range min(len(got), len(want)) {
						if got[i] != want[i] {
							t.Errorf("\n got %s\nwant %s", got[i], want[i])
							break
						}
					}
				}
			}
		})
	}
}

// sameNodes compares the names and cables in a list with those that ibnetdiscover prints. A list of adapters lacks the
// cables without an adapter.
func sameNodes(t *testing.T, sim *ibsimtest.Sim, command string) {
	t.Helper()
	file, err := ibnet.Read(context.Background(), strings.NewReader(sim.Output("ibnetdiscover")), "ibnetdiscover",
		ibnet.Options{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(command)
	f, _, err := linkinfo.Read(context.Background(), strings.NewReader(sim.Output(words[0], words[1:]...)), "list", nil)
	if err != nil {
		t.Errorf("%s: %v", command, err)
		return
	}
	cables := func(f *fabric.Fabric) (lines []string) {
		for _, l := range f.Links() {
			ends := []string{f.PortName(l.A), f.PortName(l.B)}
			slices.Sort(ends)
			isAdapter := func(port fabric.PortIndex) bool { return f.Nodes[f.Ports[port].Node].Type == mad.NodeCA }
			if slices.Contains(words, "--cas-only") && !isAdapter(l.A) && !isAdapter(l.B) {
				continue
			}
			p := &f.Ports[l.A]
			lines = append(lines, fmt.Sprintf("%v %v%v", ends, p.Width, p.Speed))
		}
		slices.Sort(lines)
		return lines
	}
	if got, want := cables(f), cables(file.Fabric); !slices.Equal(got, want) {
		t.Errorf("%s: %d cables, expected %d:\n%v\n%v", command, len(got), len(want), got, want)
	}
}

// listed returns the properties of a fabric that the lists contain, sorted.
func listed(f *fabric.Fabric, typed bool) []string {
	var lines []string
	for i := range f.NumPorts() {
		p := &f.Ports[i]
		if !p.Linked() {
			continue
		}
		n := &f.Nodes[p.Node]
		typ := n.Type
		if typ == mad.NodeRouter && !typed {
			typ = mad.NodeCA
		}
		peer := &f.Ports[p.Peer]
		lines = append(lines, fmt.Sprintf("%v node 0x%x %q port 0x%x[%d] LID %d %v%v -> 0x%x[%d]",
			typ, n.GUID, n.Desc, p.GUID, p.Num, f.Ports[f.EndPortOf(i)].LID, p.Width, p.Speed, peer.GUID, peer.Num))
	}
	slices.Sort(lines)
	return lines
}
