// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/health"
)

// hardware is a row about the hardware of a node. The function add adds its values to the data of the node. Rows with
// late set are added after all others.
type hardware struct {
	node uint64
	line int
	add  func(n *health.Node)
	late bool
}

// ofNode adds a row about the node in the first column.
func (p *parser) ofNode(v *values, add func(n *health.Node)) error {
	guid, err := v.number(0, 64)
	if err != nil {
		return p.refuse("%w", err)
	}
	p.hardware = append(p.hardware, hardware{node: guid, line: p.line, add: add})
	return nil
}

// word returns the text of a column, "" if it has none.
func (v *values) word(column int) string {
	if !v.has(column) {
		return ""
	}
	return string(bytes.TrimSpace(v.text[column]))
}

// firmware parses a row of section NODES_INFO. Devices with extended numbers have zeros or cut numbers in the other
// columns.
func (p *parser) firmware(v *values) error {
	var n [6]uint64
	if err := v.numbers(n[:], 2, 32, 3, 32, 4, 32, 5, 32, 6, 32, 7, 32); err != nil {
		return p.refuse("%w", err)
	}
	version := ""
	for _, at := range [...]int{0, 3} {
		if v.has(2+at) && n[at]|n[at+1]|n[at+2] != 0 {
			version = fmt.Sprintf("%d.%d.%04d", n[at], n[at+1], n[at+2])
			break
		}
	}
	psid, uptime := v.word(1), v.level(8)
	return p.ofNode(v, func(n *health.Node) { n.Firmware, n.PSID, n.Uptime = version, psid, uptime })
}

// system parses a row of section SYSTEM_GENERAL_INFORMATION.
func (p *parser) system(v *values) error {
	serial, part, revision, product := v.word(1), v.word(2), v.word(3), v.word(4)
	return p.ofNode(v, func(n *health.Node) {
		n.Serial, n.Part, n.Revision, n.Product = serial, part, revision, product
	})
}

// sensor parses a row of section TEMPERATURE_SENSORS.
func (p *parser) sensor(v *values) error {
	index, err := v.number(1, 16)
	if err != nil {
		return p.refuse("%w", err)
	}
	s := health.Sensor{Index: int(index), Celsius: v.degrees(2), Highest: v.degrees(3)}
	return p.ofNode(v, func(n *health.Node) { n.Sensors = append(n.Sensors, s) })
}

// onlySensor parses a row of section TEMP_SENSING, which has one temperature for each node. It applies to nodes
// without rows in TEMPERATURE_SENSORS, which has more details.
func (p *parser) onlySensor(v *values) error {
	s := health.Sensor{Celsius: v.degrees(1)}
	before := len(p.hardware)
	err := p.ofNode(v, func(n *health.Node) {
		if len(n.Sensors) == 0 {
			n.Sensors = []health.Sensor{s}
		}
	})
	for i := range p.hardware[before:] {
		p.hardware[before+i].late = true
	}
	return err
}

// fan parses a row of section FANS_SPEED.
func (p *parser) fan(v *values) error {
	return p.fanRow(v, func(f *health.Fan) { f.RPM = v.level(2) })
}

// fanLimits parses a row of section FANS_THRESHOLDS.
func (p *parser) fanLimits(v *values) error {
	low, high := v.level(2), v.level(3)
	if high.Value == 0 {
		high.Known = false // the fan has no limit
	}
	return p.fanRow(v, func(f *health.Fan) { f.Min, f.Max = low, high })
}

// fanRow adds the values of a row to the fan with the index in the second column.
func (p *parser) fanRow(v *values, set func(f *health.Fan)) error {
	index, err := v.number(1, 16)
	if err != nil {
		return p.refuse("%w", err)
	}
	var values health.Fan
	set(&values)
	return p.ofNode(v, func(n *health.Node) {
		for i := range n.Fans {
			if f := &n.Fans[i]; f.Index == int(index) {
				setKnown(f, &values)
				return
			}
		}
		values.Index = int(index)
		n.Fans = append(n.Fans, values)
	})
}

// setKnown sets the levels of a fan that the values have.
func setKnown(f, values *health.Fan) {
	for _, l := range [...]struct{ to, from *health.Level }{
		{&f.RPM, &values.RPM}, {&f.Min, &values.Min}, {&f.Max, &values.Max},
	} {
		if l.from.Known {
			*l.to = *l.from
		}
	}
}

// supply parses a row of section POWER_SUPPLIES.
func (p *parser) supply(v *values) error {
	index, err := v.number(1, 16)
	if err != nil {
		return p.refuse("%w", err)
	}
	s := health.Supply{Index: int(index), Present: v.word(2), DC: v.word(3), Alert: v.word(4), Fan: v.word(5),
		Serial: v.word(6)}
	return p.ofNode(v, func(n *health.Node) { n.Supplies = append(n.Supplies, s) })
}

// degrees returns the temperature of a column.
func (v *values) degrees(column int) health.Level {
	if !v.has(column) {
		return health.Level{}
	}
	n, ok := celsius(v.text[column])
	return health.Level{Value: float64(n), Known: ok}
}

// level returns the number in a column that is not negative.
func (v *values) level(column int) health.Level {
	n, ok := parse(v.text[column])
	return health.Level{Value: float64(n), Known: v.has(column) && ok}
}

// The columns of section CABLE_INFO from the eleventh on: the received and the sent power of each lane, the lowest
// powers that the module permits, and other columns for the length and the type.
const (
	rxColumn     = 10
	txColumn     = rxColumn + health.MaxLanes
	limitsColumn = txColumn + health.MaxLanes
	lengthColumn = limitsColumn + 2
	typeColumn   = limitsColumn + 3
)

func cableColumns() []string {
	columns := []string{"nodeguid", "portnum", "vendor", "pn", "sn", "rev", "temperature",
		"lengthsmfiber|length|lengthcopper", "type|cabletype", "fwversion"}
	for _, direction := range []string{"rx", "tx"} {
		for lane := range health.MaxLanes {
			columns = append(columns, direction+strconv.Itoa(lane+1)+"power")
		}
	}
	return append(columns, "rxpowerlowthresh", "txpowerlowthresh", "lengthcopperoractive", "typedesc")
}

// optics returns the optical powers in a row of section CABLE_INFO.
func (v *values) optics() (o health.Optics) {
	for lane := range health.MaxLanes {
		o.Rx[lane], o.Tx[lane] = power(v.word(rxColumn+lane)), power(v.word(txColumn+lane))
	}
	o.RxLow, o.TxLow = power(v.word(limitsColumn)), power(v.word(limitsColumn+1))
	return o
}

// tenthMicrowatt is the unit, in milliwatts, of the memory map of modules.
const tenthMicrowatt = 1e-4

// power returns an optical power in dBm: of "-2.6 dBm", "0.55 mW", "0.55 mW, -2.6 dBm", or of a number of tenths of
// microwatts. The level is unknown without light, because modules without this sensor also report 0.
func power(text string) health.Level {
	for part := range strings.SplitSeq(text, ",") {
		if dbm, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(part)), "dbm"); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(dbm), 64)
			return health.Level{Value: n, Known: err == nil && math.Abs(n) < 100}
		}
	}
	first, _, _ := strings.Cut(text, ",")
	milliwatts, ok := strings.CutSuffix(strings.ToLower(strings.TrimSpace(first)), "mw")
	unit := 1.0
	n, err := strconv.ParseFloat(strings.TrimSpace(milliwatts), 64)
	if !ok {
		unit = tenthMicrowatt
		whole, isWhole := parse([]byte(text))
		if isWhole {
			n, err = float64(whole), nil
		} else {
			n = 0
		}
	}
	if n *= unit; err != nil || n <= 0 || n > 1000 {
		return health.Level{}
	}
	return health.LevelOf(10 * math.Log10(n))
}

// hardwareOf adds the rows about the hardware of nodes.
func (p *parser) hardwareOf(db *DB) error {
	for _, late := range [...]bool{false, true} {
		for _, h := range p.hardware {
			if h.late != late {
				continue
			}
			n := db.Fabric.NodeByGUID(h.node)
			if n == fabric.None {
				if err := p.refuseAt(h.line, "node 0x%016x, which is not among the nodes", h.node); err != nil {
					return err
				}
				continue
			}
			h.add(db.Health.OfNode(n))
		}
	}
	return nil
}

// writeHardware returns a function that writes the rows of a section about nodes.
func writeHardware(rows func(n *health.Node) []string) func(*writer, *DB) {
	return func(w *writer, db *DB) {
		for i := range db.Fabric.NumNodes() {
			n := db.Health.NodeAt(i)
			if n == nil {
				continue
			}
			for _, row := range rows(n) {
				w.line("0x%016x,%s", db.Fabric.Nodes[i].GUID, row)
			}
		}
	}
}

// hardwareSections lists the sections about the hardware of nodes.
var hardwareSections = []struct {
	name, columns string
	rows          func(*writer, *DB)
}{
	{"NODES_INFO", "NodeGUID,FWInfo_PSID,FWInfo_Extended_Major,FWInfo_Extended_Minor," +
		"FWInfo_Extended_SubMinor,HWInfo_UpTime",
		writeHardware(func(n *health.Node) []string {
			var v [3]uint64
			_, err := fmt.Sscanf(n.Firmware, "%d.%d.%d", &v[0], &v[1], &v[2])
			if err != nil && n.PSID == "" && !n.Uptime.Known {
				return nil
			}
			return []string{fmt.Sprintf("%s,0x%x,0x%x,0x%x,%s", textOrNA(n.PSID), v[0], v[1], v[2],
				levelOrNA(n.Uptime))}
		})},
	{"SYSTEM_GENERAL_INFORMATION", "NodeGuid,SerialNumber,PartNumber,Revision,ProductName",
		writeHardware(func(n *health.Node) []string {
			if n.Serial+n.Part+n.Revision+n.Product == "" {
				return nil
			}
			return []string{strings.Join([]string{textOrNA(n.Serial), textOrNA(n.Part), textOrNA(n.Revision),
				textOrNA(n.Product)}, ",")}
		})},
	{"TEMPERATURE_SENSORS", "NodeGuid,SensorIndex,Temperature,MaxTemperature",
		writeHardware(func(n *health.Node) (rows []string) {
			for _, s := range n.Sensors {
				rows = append(rows, fmt.Sprintf("%d,%s,%s", s.Index, levelOrNA(s.Celsius), levelOrNA(s.Highest)))
			}
			return rows
		})},
	{"FANS_SPEED", "NodeGuid,SensorIndex,FanSpeed", writeHardware(func(n *health.Node) (rows []string) {
		for _, f := range n.Fans {
			rows = append(rows, fmt.Sprintf("%d,%s", f.Index, levelOrNA(f.RPM)))
		}
		return rows
	})},
	{"FANS_THRESHOLDS", "NodeGuid,SensorIndex,MinSpeed,MaxSpeed",
		writeHardware(func(n *health.Node) (rows []string) {
			for _, f := range n.Fans {
				rows = append(rows, fmt.Sprintf("%d,%s,%s", f.Index, levelOrNA(f.Min), levelOrNA(f.Max)))
			}
			return rows
		})},
	{"POWER_SUPPLIES", "NodeGuid,PSUIndex,IsPresent,DCState,AlertState,FanState,SerialNumber",
		writeHardware(func(n *health.Node) (rows []string) {
			for _, s := range n.Supplies {
				rows = append(rows, fmt.Sprintf("%d,%s,%s,%s,%s,%s", s.Index, textOrNA(s.Present), textOrNA(s.DC),
					textOrNA(s.Alert), textOrNA(s.Fan), textOrNA(s.Serial)))
			}
			return rows
		})},
}

// levelOrNA returns a level as a whole number, or N/A.
func levelOrNA(l health.Level) string {
	if !l.Known {
		return "N/A"
	}
	return fmt.Sprintf("%.0f", l.Value)
}
