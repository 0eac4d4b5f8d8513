// SPDX-License-Identifier: Apache-2.0

package treestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/osm"
	"example.org/ibconsole/internal/test/testenv"
	"example.org/ibconsole/routing"
	"example.org/ibconsole/routing/engines/assign"
)

// Report is the result of Debian's ibdmchk.
type Report struct {
	// Hops counts the paths between CAs that arrive, by their number of links.
	Hops map[int]int64
	// Failed is the number of paths that do not arrive.
	Failed int64
	// Loop is set if the routes have a credit loop. Judged is set if ibdmchk searched for a credit loop. It searches
	// only if all paths arrive.
	Loop, Judged bool
	Text         string
}

var (
	failedPaths = regexp.MustCompile(`-E- Found (\d+) missing paths out of:(\d+)`)
	scanned     = regexp.MustCompile(`Scanned:\d+ CA to CA paths|missing paths out of`)
	histogram   = regexp.MustCompile(`(?s)LFT ROUTE HOP HISTOGRAM -+\n.*?PAIRS\n(.*?)\n---`)
)

// Ibdmchk runs ibdmchk on tables, and passes the SLs and SL2VL tables if the tables have them. Each end port must have
// one LID.
func Ibdmchk(t testing.TB, tables *fabric.Tables) Report {
	t.Helper()
	program := testenv.Tool(t, "ibdmchk")
	dir := t.TempDir()
	file := func(name string, write func(io.Writer) error) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err == nil {
			err = errors.Join(write(f), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	f, hops := tables.Fabric, routing.NewDistances(tables.Fabric)
	args := []string{
		"-s", file("subnet.lst", func(w io.Writer) error { return osm.WriteSubnet(w, f.Activated()) }),
		"-f", file("fdbs", func(w io.Writer) error {
			return osm.WriteFDBs(w, tables, hops, assign.Recommend(f, hops, &routing.Options{}, nil, nil))
		}),
		"-m", file("mcfdbs", func(w io.Writer) error { return writeMFT(w, tables) }),
	}
	if tables.MFT != nil {
		args = append(args, "-M")
	}
	if tables.SLs != nil {
		args = append(args, "-c", file("sls", func(w io.Writer) error { return writeSLs(w, tables) }))
	}
	if tables.SL2VL != nil {
		args = append(args, "-d", file("sl2vl", func(w io.Writer) error { return writeSL2VL(w, tables) }))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	// It crashes at its end, after all output.
	out, err := exec.CommandContext(ctx, program, args...).CombinedOutput()
	if ctx.Err() != nil || !scanned.Match(out) {
		t.Fatalf("ibdmchk: %v\n%s", err, out)
	}
	return parse(t, string(out))
}

func parse(t testing.TB, text string) Report {
	t.Helper()
	r := Report{Hops: map[int]int64{}, Text: text}
	r.Loop = strings.Contains(text, "credit loops in routing")
	r.Judged = r.Loop || strings.Contains(text, "no credit loops found")
	if m := failedPaths.FindStringSubmatch(text); m != nil {
		r.Failed, _ = strconv.ParseInt(m[1], 10, 64)
	}
	m := histogram.FindStringSubmatch(text)
	if m == nil {
		return r
	}
	for line := range strings.Lines(m[1]) {
		var hops int
		var pairs int64
		if n, _ := fmt.Sscan(line, &hops, &pairs); n == 2 {
			r.Hops[hops] = pairs
		}
	}
	return r
}

func writeMFT(w io.Writer, t *fabric.Tables) error {
	if t.MFT == nil {
		return nil
	}
	for s := range t.Fabric.NumSwitches() {
		n := t.Fabric.SwitchNode(s)
		if _, err := fmt.Fprintf(w, "\nSwitch 0x%016x\nLID    : Out Port(s)\n", n.GUID); err != nil {
			return err
		}
		for i := range t.MFT.LIDs() {
			mlid := uint16(fabric.FirstMLID + i)
			var line strings.Builder
			for p := range int(n.NumPorts) + 1 {
				if t.MFT.Has(s, mlid, uint8(p)) {
					_, _ = fmt.Fprintf(&line, "0x%03X ", p)
				}
			}
			if line.Len() > 0 {
				if _, err := fmt.Fprintf(w, "0x%04X : %s\n", mlid, line.String()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func writeSLs(w io.Writer, t *fabric.Tables) error {
	f := t.Fabric
	for _, src := range f.EndPorts {
		for _, dst := range f.EndPorts {
			sl := t.SLs.SL(f.Ports[src].LID, f.Ports[dst].LID)
			if _, err := fmt.Fprintf(w, "0x%016x %d %d\n", f.Nodes[f.Ports[src].Node].GUID, f.Ports[dst].LID,
				sl); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeSL2VL(w io.Writer, t *fabric.Tables) error {
	f := t.Fabric
	for _, node := range f.Switches {
		n := &f.Nodes[node]
		for in := range int(n.NumPorts) + 1 {
			for out := range int(n.NumPorts) + 1 {
				var line strings.Builder
				_, _ = fmt.Fprintf(&line, "0x%016x %d %d", n.GUID, in, out)
				vls := t.SL2VL.VLs(node, uint8(in), uint8(out))
				for i := 0; i < len(vls); i += 2 {
					_, _ = fmt.Fprintf(&line, " 0x%x%x", vls[i], vls[i+1])
				}
				if _, err := fmt.Fprintln(w, line.String()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
