// SPDX-License-Identifier: Apache-2.0

package plans

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric/cabling"
)

// table describes a format that is a CSV with a heading.
type table struct {
	name    string
	columns [numColumns][]name
	// positions are the names of the columns of a file without a heading, nil if the heading is required.
	positions []string
	setPort   func(*cabling.End, string) error
	setSpeed  func(*cabling.Kind, string) error
}

// name is a heading of a column, and which of several columns with this heading it is, from 0.
type name struct {
	heading string
	nth     int
}

// The columns. Those of the second end follow those of the first.
const (
	device = iota
	port
	rack
	unit
	device2
	port2
	rack2
	unit2
	speed
	width
	length
	linkType
	state
	numColumns

	second = device2
)

var tables = map[format]*table{
	ndt: {
		name: "NDT of UFM", setPort: setPort, setSpeed: setRate,
		columns: [numColumns][]name{
			device: {{"startdevice", 0}}, port: {{"startport", 0}},
			device2: {{"enddevice", 0}}, port2: {{"endport", 0}},
			rack: {{"startdevicelocation", 0}, {"rack #", 0}}, unit: {{"u height", 0}},
			rack2: {{"enddevicelocation", 0}}, unit2: {{"u height_1", 0}, {"u height", 1}},
			speed: {{"speed", 0}}, length: {{"cable length", 0}}, linkType: {{"linktype", 0}}, state: {{"state", 0}},
		},
	},
	p2p: {
		name: "P2P table", setPort: setP2PPort, setSpeed: setRate,
		columns: [numColumns][]name{
			device: {{"a-node name", 0}, {"a-name", 0}}, port: {{"a-port", 0}},
			device2: {{"z-node name", 0}, {"z-name", 0}}, port2: {{"z-port", 0}},
			rack: {{"a-rack", 0}, {"rack", 0}}, unit: {{"a-u", 0}, {"u", 0}},
			rack2: {{"z-rack", 0}, {"rack", 1}}, unit2: {{"z-u", 0}, {"u", 1}},
			speed: {{"speed", 0}}, length: {{"length", 0}, {"cable length", 0}},
		},
	},
	ownCSV: {
		name: "CSV of cables", setPort: setOwnPort, setSpeed: setSpeed,
		columns: [numColumns][]name{
			device: {{"node", 0}}, port: {{"port", 0}}, device2: {{"node", 1}}, port2: {{"port", 1}},
			rack: {{"rack", 0}}, unit: {{"unit", 0}}, rack2: {{"rack", 1}}, unit2: {{"unit", 1}},
			speed: {{"speed", 0}}, width: {{"width", 0}}, length: {{"length", 0}},
		},
		positions: []string{"node", "port", "node", "port", "speed", "width", "rack", "unit", "rack", "unit"},
	},
}

// readTable reads a CSV.
func readTable(p *cabling.Plan, all []byte, t *table) error {
	p.Format = t.name
	r := csv.NewReader(bytes.NewReader(all))
	r.FieldsPerRecord, r.LazyQuotes, r.ReuseRecord = -1, true, true
	var at []int
	columns := 0
	for {
		fields, err := r.Read()
		if err == io.EOF {
			if at == nil {
				return refuse(p, 1, "no heading, expected the columns %s", t.required())
			}
			return nil
		}
		if err != nil {
			if bad, ok := errors.AsType[*csv.ParseError](err); ok {
				return refuse(p, bad.Line, "%v, expected CSV", bad.Err)
			}
			return err
		}
		line, _ := r.FieldPos(0)
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		if !slices.ContainsFunc(fields, func(s string) bool { return s != "" }) {
			continue
		}
		if at == nil {
			if at = t.find(fields); at != nil {
				if columns = len(fields); t.positions != nil {
					if bad := t.unknown(fields); bad != "" {
						return refuse(p, line, "unknown column %q, expected %s", bad, strings.Join(t.headings(), ", "))
					}
				}
				continue
			}
		}
		switch {
		case strings.HasPrefix(fields[0], "#"):
			continue
		case at == nil && t.positions == nil:
			p.Skip("before the heading")
			continue
		case at == nil:
			at, columns = t.find(t.positions), len(t.positions)
		}
		for i := columns; i < len(fields); i++ {
			if fields[i] != "" {
				return refuse(p, line, "%q is in column %d, expected %d columns", fields[i], i+1, columns)
			}
		}
		if err := t.row(p, line, fields, at); err != nil {
			return refuse(p, line, "%v", err)
		}
	}
}

// find returns the position of each column in a heading, -1 for a column that is not there. It returns nil if the
// fields are not a heading.
func (t *table) find(heading []string) []int {
	at := slices.Repeat([]int{-1}, numColumns)
	for c, names := range t.columns {
		for _, n := range names {
			nth := n.nth
			for i, h := range heading {
				h = strings.ToLower(strings.TrimSpace(h))
				h = strings.TrimPrefix(strings.TrimPrefix(h, "#"), "fields:")
				if h != n.heading {
					continue
				}
				if nth == 0 && at[c] < 0 {
					at[c] = i
				}
				nth--
			}
		}
	}
	if at[device] < 0 || at[port] < 0 || at[device2] < 0 || at[port2] < 0 {
		return nil
	}
	return at
}

// unknown returns the first heading that no column has, or "".
func (t *table) unknown(heading []string) string {
	known := t.headings()
	for _, h := range heading {
		name := strings.ToLower(strings.TrimPrefix(h, "#"))
		if name = strings.TrimSpace(name); name != "" && !slices.Contains(known, name) {
			return h
		}
	}
	return ""
}

// headings returns the headings of all columns.
func (t *table) headings() (all []string) {
	for _, names := range t.columns {
		for _, n := range names {
			if !slices.Contains(all, n.heading) {
				all = append(all, n.heading)
			}
		}
	}
	return all
}

func (t *table) required() string {
	var names []string
	for _, c := range []int{device, port, device2, port2} {
		names = append(names, t.columns[c][0].heading)
	}
	return strings.Join(names, ", ")
}

// row reads a line.
func (t *table) row(p *cabling.Plan, line int, fields []string, at []int) error {
	field := func(c int) string {
		if at[c] < 0 || at[c] >= len(fields) {
			return ""
		}
		return strings.Clone(fields[at[c]])
	}
	switch kind := field(linkType); {
	case kind != "" && !strings.EqualFold(kind, "Data"):
		p.Skip("not InfiniBand (LinkType)")
		return nil
	case strings.EqualFold(field(state), "Disabled"):
		p.Skip("disabled in the plan")
		return nil
	case at[state] >= 0 && field(device2) == "" && field(port2) == "":
		p.Skip("a boundary port without a peer")
		return nil
	case isAggregation(field(device)), isAggregation(field(device2)):
		p.Skip("an aggregation node")
		return nil
	}
	cable := cabling.Cable{Line: line, Kind: cabling.Kind{Length: field(length)}}
	for i := range cable.Ends {
		e := &cable.Ends[i]
		c := i * second
		if field(c+device) == "" || field(c+port) == "" {
			return fmt.Errorf("a device or port is missing, expected %s", t.required())
		}
		if err := setDevice(e, field(c+device)); err != nil {
			return err
		}
		if err := t.setPort(e, field(c+port)); err != nil {
			return err
		}
		e.Rack, e.Unit = field(c+rack), field(c+unit)
	}
	if text := field(speed); text != "" {
		if err := t.setSpeed(&cable.Kind, text); err != nil {
			return err
		}
	}
	if text := field(width); text != "" {
		if err := setWidth(&cable.Kind, text); err != nil {
			return err
		}
	}
	p.Cables = append(p.Cables, cable)
	return nil
}

func isAggregation(device string) bool {
	return strings.Contains(strings.ToLower(device), "aggregation node")
}

var megabits = regexp.MustCompile(`^(\d{4,9})\b`)
var gigabits = regexp.MustCompile(`^(\d{1,4})\s*G`)

// setRate sets the rate from Mb/s or a text such as "200G HDR cable", or the speed from a text such as "HDR cable".
func setRate(k *cabling.Kind, text string) error {
	if m := megabits.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		k.Gbps = float64(n) / 1000
		return nil
	}
	if m := gigabits.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1])
		k.Gbps = float64(n)
		return nil
	}
	word, _, _ := strings.Cut(text, " ")
	if setSpeed(k, word) != nil {
		return fmt.Errorf("speed %q, expected Mb/s such as 200000, or a text that begins with 200G or HDR", text)
	}
	return nil
}

// setP2PPort sets a port of a P2P table. A number is a port of a switch or an adapter of a host. Other texts are
// labels.
func setP2PPort(e *cabling.End, text string) error {
	e.ByAdapter = true
	return setOwnPort(e, text)
}
