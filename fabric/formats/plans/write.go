// SPDX-License-Identifier: Apache-2.0

package plans

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/cabling"
	"example.org/ibconsole/mad"
)

// Formats lists the formats that [Write] writes.
var Formats = []string{"ndt", "csv", "yaml"}

// Write writes the cables of a fabric as a plan, with their speeds and widths if kinds is set. Every port is named so
// that the checker finds it again: by GUID if the names do not identify it. O(n log n).
func Write(w io.Writer, f *fabric.Fabric, format string, kinds bool) error {
	r := cabling.NewResolver(f)
	end := r.EndOf
	if format != "ndt" {
		end = r.NodeEnd
	}
	if format == "yaml" {
		return writeYAML(w, f, end, kinds)
	}
	out := csv.NewWriter(w)
	row := []string{"#StartDevice", "StartPort", "EndDevice", "EndPort", "LinkType", "Speed"}
	if format == "csv" {
		row = []string{"node", "port", "node", "port", "speed", "width"}
	}
	_ = out.Write(row) // Error returns the first error
	for _, l := range cabling.Cables(f) {
		a, b, p := ends(f, l, end, kinds)
		row = []string{a.Device, a.Port, b.Device, b.Port, "Data", megabitsOf(p)}
		if format == "csv" {
			row = append(row[:4], speedOf(p), widthOf(p))
		}
		_ = out.Write(row)
	}
	out.Flush()
	return out.Error()
}

// ends returns both ends of a cable, the host first. It also returns the port with the speed and width to write, which
// are unknown if kinds is not set.
func ends(f *fabric.Fabric, l fabric.Link, end func(fabric.PortIndex) cabling.End, kinds bool) (a, b cabling.End,
	p *fabric.Port) {
	if f.Nodes[f.Ports[l.B].Node].Type == mad.NodeCA && f.Nodes[f.Ports[l.A].Node].Type != mad.NodeCA {
		l.A, l.B = l.B, l.A
	}
	if !kinds {
		return end(l.A), end(l.B), new(fabric.Port)
	}
	return end(l.A), end(l.B), &f.Ports[l.A]
}

func megabitsOf(p *fabric.Port) string {
	if p.Gbps() == 0 {
		return ""
	}
	return strconv.Itoa(int(1000 * p.Gbps()))
}

func speedOf(p *fabric.Port) string {
	if p.Speed == fabric.SpeedUnknown {
		return ""
	}
	return p.Speed.String()
}

func widthOf(p *fabric.Port) string {
	if p.Width == 0 {
		return ""
	}
	return p.Width.String()
}

func writeYAML(w io.Writer, f *fabric.Fabric, end func(fabric.PortIndex) cabling.End, kinds bool) error {
	if _, err := fmt.Fprintln(w, "cables:"); err != nil {
		return err
	}
	for _, l := range cabling.Cables(f) {
		a, b, p := ends(f, l, end, kinds)
		line := fmt.Sprintf("- {a: %q, ap: %s, b: %q, bp: %s", a.Device, a.Port, b.Device, b.Port)
		if s := speedOf(p); s != "" {
			line += ", speed: " + s
		}
		if s := widthOf(p); s != "" {
			line += ", width: " + s
		}
		if _, err := fmt.Fprintln(w, line+"}"); err != nil {
			return err
		}
	}
	return nil
}
