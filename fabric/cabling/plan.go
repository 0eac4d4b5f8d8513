// SPDX-License-Identifier: Apache-2.0

// Package cabling compares the cables of a subnet with a plan.
//
// [Compare] matches the ends of planned cables with ports by names and port numbers. A difference is a planned cable
// that is not there, or a cable that is not planned. Compare classifies the differences and finds the cheapest repair.
package cabling

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
)

// Plan is a cabling plan.
type Plan struct {
	File   string // escaped
	Format string
	Cables []Cable
	// Skipped counts the lines that describe no cable of the subnet, by reason.
	Skipped []Skip
}

// Skip is a number of lines of a plan that are not compared.
type Skip struct {
	Why   string
	Lines int
}

// Skip counts a line that is not compared.
func (p *Plan) Skip(why string) {
	for i := range p.Skipped {
		if p.Skipped[i].Why == why {
			p.Skipped[i].Lines++
			return
		}
	}
	p.Skipped = append(p.Skipped, Skip{why, 1})
}

// Cable is a planned cable. The texts of a plan are not escaped.
type Cable struct {
	Line int
	Ends [2]End
	Kind Kind
}

// End is an end of a planned cable.
type End struct {
	Device string // the name of the device
	GUID   uint64 // the node GUID or port GUID if the plan identifies the device by it, otherwise 0
	Port   string // the port as the plan writes it
	// Adapter is the description of a host's adapter if the plan gives it, otherwise "".
	Adapter string
	// Board is the board of a director with the port, in the form "L16/U2", or "L16" if the plan does not give the
	// switch on the board. It is "" for other devices.
	Board string
	// Num is the port number, 0 if the plan gives only a label. For a host with several adapters it is the number of
	// the adapter.
	Num int
	// Label is the label of the port on the device, such as "1/16/1". It is "" if Num is given.
	Label string
	// ByAdapter means that Num is the number of an adapter of the host, from 1.
	ByAdapter bool
	// Unmapped is the reason why the port cannot be mapped to a number, "" if it can.
	Unmapped   string
	Rack, Unit string // the location of the device, "" if the plan has none
}

// String returns the device with the port as the plan writes it.
func (e *End) String() string {
	return fabric.Escape(e.Device) + " " + fabric.Escape(e.Port)
}

// Printed returns the label at the port according to the plan, "" if the plan gives only a number or an adapter.
func (e *End) Printed() string {
	switch {
	case e.Label != "" || e.Board != "":
		return cmp.Or(e.Label, e.Port)
	case e.Num == 0 || e.Adapter != "" || e.Port == strconv.Itoa(e.Num) || numbered.MatchString(e.Port):
		return ""
	}
	return e.Port
}

// numbered is a port that a plan gives by its number.
var numbered = regexp.MustCompile(`^(?i:(IB )?port |P)\d+$`)

// Kind describes a cable. Cables of the same kind are interchangeable. Zero fields are not planned.
type Kind struct {
	Speed  fabric.Speed
	Width  fabric.Width
	Gbps   float64 // the nominal rate
	Length string
}

// String returns the speed and width, "" if they are not planned.
func (k Kind) String() string {
	switch {
	case k.Gbps > 0:
		return fmt.Sprintf("%g Gbit/s", k.Gbps)
	case k.Width == 0 && k.Speed == 0:
		return ""
	case k.Width == 0:
		return k.Speed.String()
	case k.Speed == 0:
		return k.Width.String()
	}
	return k.Width.String() + k.Speed.String()
}

// The results of comparing a link with the kind of a planned cable.
type fit uint8

const (
	fits fit = iota
	tooSlow
	speedUnread
)

// fits compares the link at a port with the planned speed and width.
func (k Kind) fits(p *fabric.Port) fit {
	unread := k.Speed > 0 && p.Speed == 0 || k.Width > 0 && p.Width == 0 || k.Gbps > 0 && p.Gbps() == 0
	switch {
	case unread:
		return speedUnread
	case p.Speed < k.Speed || p.Width < k.Width || p.Gbps() < math.Floor(k.Gbps):
		return tooSlow
	}
	return fits
}

// board is the location of a switch in a director: the name of the director and the board.
type board struct{ system, board string }

// boardOf splits a description in the form "MF0;NAME:MODEL/L16/U2" into the name of the device and its board. The board
// is "" for a switch that is not part of a director, and for a description in another form.
func boardOf(desc string) board {
	name, isModel := strings.CutPrefix(desc, "MF0;")
	if !isModel {
		return board{system: desc}
	}
	name, model, _ := strings.Cut(name, ":")
	_, path, _ := strings.Cut(model, "/")
	return board{name, path}
}

// isBoard reports whether a board is the planned one. The planned board may omit the switch on the board: "L6" is also
// "L06/U1". Case and leading zeros of numbers do not count.
func isBoard(board, planned string) bool {
	board, planned = canonicalBoard(board), canonicalBoard(planned)
	return board == planned || strings.HasPrefix(board, planned+"/")
}

func canonicalBoard(s string) string {
	var out strings.Builder
	digits := false
	for i, c := range []byte(strings.ToUpper(s)) {
		isDigit := c >= '0' && c <= '9'
		if c == '0' && !digits && i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
			continue
		}
		digits = isDigit
		out.WriteByte(c)
	}
	return out.String()
}

// Internal reports whether both ends of a link are on boards of the same director, so that the link is not a cable.
func Internal(f *fabric.Fabric, l fabric.Link) bool {
	a, b := &f.Nodes[f.Ports[l.A].Node], &f.Nodes[f.Ports[l.B].Node]
	if !a.IsSwitch() || !b.IsSwitch() {
		return false
	}
	x, y := boardOf(a.Desc), boardOf(b.Desc)
	return x.board != "" && y.board != "" && strings.EqualFold(x.system, y.system)
}

// Cables returns the links of a fabric that are cables: not the links inside directors, and not those of aggregation
// nodes.
func Cables(f *fabric.Fabric) []fabric.Link {
	var cables []fabric.Link
	for _, l := range f.Links() {
		if !Internal(f, l) && !f.IsAggregation(f.Ports[l.A].Node) && !f.IsAggregation(f.Ports[l.B].Node) {
			cables = append(cables, l)
		}
	}
	return cables
}
