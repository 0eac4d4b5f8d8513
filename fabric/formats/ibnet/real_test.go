// SPDX-License-Identifier: Apache-2.0

package ibnet

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/mad/ibsim/ibsimtest"
)

// sources returns the names of files that ibsim reads.
func sources(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for name, text := range nets {
		path := filepath.Join(dir, strings.ReplaceAll(name, " ", "-")+".net")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files[name] = path
	}
	if os.Getenv("IBCONSOLE_SHARED") == "" {
		t.Log("IBCONSOLE_SHARED is not set: without the shared fabrics")
		return files
	}
	names := []string{
		"real-qdr-11sw.topo", "real-fdr10-8sw.topo", "real-ndr-rail-40sw.topo", "real-cs8500-hdr-192sw.net",
		"reindeer1100-116sw.net",
	}
	if testenv.Full() {
		names = append(names, "rhino10k-2520sw.net")
	}
	for _, name := range names {
		files[name] = testenv.SharedFile(t, "fabrics/"+name)
	}
	return files
}

// TestAgainstRealTools compares files with the output of the real ibnetdiscover and OpenSM over an ibsim that reads
// them: ibnetdiscover before and after a subnet manager ran, and opensm-subnet.lst.
func TestAgainstRealTools(t *testing.T) {
	testenv.ToolVersion(t, "ibsim", "0.10", "-h") // 0.12 announces another capability mask and other rates
	for name, path := range sources(t) {
		t.Run(name, func(t *testing.T) {
			file, err := ReadFile(context.Background(), path, Options{Reading: AsIbsim})
			if err != nil {
				t.Fatal(err)
			}
			sim := ibsimtest.Start(t, path)
			compareText(t, "before", undated(sim.Output("ibnetdiscover")), undated(written(t, file.Fabric)))
			if asymmetric[name] {
				return
			}
			dumps := ibsimtest.OpenSM(t, sim)
			f, err := fabric.AssignLIDs(file.Fabric)
			if err != nil {
				t.Fatal(err)
			}
			after := sim.Output("ibnetdiscover")
			compareText(t, "after", undated(after), undated(written(t, f)))
			want, err := os.ReadFile(filepath.Join(dumps, "opensm-subnet.lst"))
			if err != nil {
				t.Fatal(err)
			}
			var got bytes.Buffer
			if err := osm.WriteSubnet(&got, f.Activated()); err != nil {
				t.Fatal(err)
			}
			compareText(t, "opensm-subnet.lst", string(want), got.String())
			if !differing[name] {
				bothReadings(t, after)
			}
		})
	}
}

// bothReadings checks that ibnetdiscover's output over ibsim is the same subnet in both readings.
func bothReadings(t *testing.T, text string) {
	t.Helper()
	var subnets [2]bytes.Buffer
	for i, reading := range []Reading{AsIbsim, AsStated} {
		file, err := Read(context.Background(), strings.NewReader(text), "ibnetdiscover", Options{Reading: reading})
		if err != nil {
			t.Fatalf("%v: %v", reading, err)
		}
		if err := osm.WriteSubnet(&subnets[i], file.Fabric.Activated()); err != nil {
			t.Fatal(err)
		}
	}
	compareText(t, "both readings", subnets[0].String(), subnets[1].String())
}

func written(t *testing.T, f *fabric.Fabric) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, f, WriteOptions{Generated: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// undated removes the date from the first lines.
func undated(text string) string {
	before, after, _ := strings.Cut(text, generated)
	_, after, _ = strings.Cut(after, "\n")
	return before + generated + "\n" + after
}

func compareText(t *testing.T, what, want, got string) {
	t.Helper()
	if want == got {
		return
	}
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	shown := 0
	for i := 0; i < len(w) && i < len(g) && shown < 5; i++ {
		if w[i] != g[i] {
			t.Errorf("%s: line %d:\n got %q\nwant %q", what, i+1, g[i], w[i])
			shown++
		}
	}
	t.Errorf("%s: %d lines, expected %d", what, len(g), len(w))
}
