// SPDX-License-Identifier: Apache-2.0

package ibdiagnet

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/counters"
	"example.org/ibconsole/fabric/health"
)

// writer writes lines. It keeps the first error and then ignores further lines.
type writer struct {
	b   *bufio.Writer
	err error
}

func (w *writer) line(format string, args ...any) {
	if w.err == nil {
		_, w.err = fmt.Fprintf(w.b, format+"\n", args...)
	}
}

func (w *writer) flush(what string) error {
	if w.err == nil {
		w.err = w.b.Flush()
	}
	if w.err != nil {
		return fmt.Errorf("write %s: %w", what, w.err)
	}
	return nil
}

// heading writes the top of a file. Unless the argument when is zero, the top contains the date, which [Timestamp] can
// read.
func (w *writer) heading(when time.Time) {
	w.line("# This file was written by ibconsole in the form of ibdiagnet 2")
	if !when.IsZero() {
		w.line("# Running timestamp : %s", when.UTC().Format("2006-01-02 15:04:05 UTC -0700"))
	}
}

// The columns of each section, as in the files of ibdiagnet 2.1.
const (
	nodeColumns = "NodeDesc,NumPorts,NodeType,ClassVersion,BaseVersion,SystemImageGUID,NodeGUID,PortGUID,DeviceID," +
		"PartitionCap,revision,VendorID,LocalPortNum"
	portColumns = "NodeGuid,PortGuid,PortNum,MKey,GIDPrfx,MSMLID,LID,CapMsk,M_KeyLeasePeriod,DiagCode,LinkWidthActv," +
		"LinkWidthSup,LinkWidthEn,LocalPortNum,LinkSpeedEn,LinkSpeedActv,LMC,MKeyProtBits,LinkDownDefState," +
		"PortPhyState,PortState,LinkSpeedSup,VLArbHighCap,VLHighLimit,InitType,VLCap,MSMSL,NMTU,FilterRawOutb," +
		"FilterRawInb,PartEnfOutb,PartEnfInb,OpVLs,HoQLife,VLStallCnt,MTUCap,InitTypeReply,VLArbLowCap," +
		"PKeyViolations,MKeyViolations,SubnTmo,MulticastPKeyTrapSuppressionEnabled,ClientReregister,GUIDCap," +
		"QKeyViolations,MaxCreditHint,OverrunErrs,LocalPhyError,RespTimeValue,LinkRoundTripLatency,OOOSLMask," +
		"CapMsk2,FECActv,RetransActv"
	switchColumns = "NodeGUID,LinearFDBCap,RandomFDBCap,MCastFDBCap,LinearFDBTop,DefPort,DefMCastPriPort," +
		"DefMCastNotPriPort,LifeTimeValue,PortStateChange,OptimizedSLVLMapping,LidsPerPort,PartEnfCap,InbEnfCap," +
		"OutbEnfCap,FilterRawInbCap,FilterRawOutbCap,ENP0,MCastFDBTop"
)

// WriteDB writes ibdiagnet2.db_csv. It writes N/A for the M_Key of a port and for properties that are not known.
// O(ports).
func WriteDB(out io.Writer, db *DB, tables *fabric.Tables) error {
	w := &writer{b: bufio.NewWriterSize(out, 1<<16)}
	w.heading(db.When)
	type section struct {
		name, columns string
		rows          func(*writer, *DB)
	}
	sections := []section{
		{"NODES", nodeColumns, writeNodes},
		{"PORTS", portColumns, writePorts},
		{"LINKS", "NodeGuid1,PortNum1,NodeGuid2,PortNum2", writeLinks},
		{"SWITCHES", switchColumns, func(w *writer, db *DB) { writeSwitches(w, db, tables) }},
		{"PKEY", "NodeGUID,LocalPortNum,PKey,Membership", writeKeys},
		{"SM_INFO", "PortGUID,Priority,SmState", writeManagers},
		{"PM_INFO", pmColumns(), writeCounters},
		{"CABLE_INFO", cableHeading(), writeCables},
		{"PORT_HIERARCHY_INFO", "NodeGUID,PortGUID,PortNum,ExtendedLabel", writeLabels},
	}
	for _, s := range hardwareSections {
		sections = append(sections, section(s))
	}
	for _, s := range sections {
		w.line("\nSTART_%s\n%s", s.name, s.columns)
		s.rows(w, db)
		w.line("END_%s", s.name)
	}
	return w.flush("the database")
}

// text returns a string in double quotes. It replaces quotes and line ends within the string, because the format has no
// escapes.
func text(s string) string {
	return `"` + strings.Map(func(r rune) rune {
		if r == '"' || r < ' ' || r == 0x7f {
			return '_'
		}
		return r
	}, s) + `"`
}

// textOrNA returns text(s), or N/A if s is empty.
func textOrNA(s string) string {
	if s == "" {
		return "N/A"
	}
	return text(s)
}

func writeNodes(w *writer, db *DB) {
	f := db.Fabric
	for i := range f.Nodes {
		n := &f.Nodes[i]
		first := n.FirstPort
		if !n.IsSwitch() {
			first++
		}
		w.line("%s,%d,%d,1,1,0x%016x,0x%016x,0x%016x,%d,N/A,%d,%d,N/A", text(n.Desc), n.NumPorts, n.Type, n.SystemGUID,
			n.GUID, f.Ports[first].GUID, n.DeviceID, n.Revision, n.VendorID)
	}
}

// portRow returns the values of a port's known properties. The keys are column names.
func portRow(db *DB, at fabric.PortIndex) map[string]string {
	f := db.Fabric
	p := &f.Ports[at]
	number := func(v uint64) string { return fmt.Sprint(v) }
	row := map[string]string{
		"NodeGuid": fmt.Sprintf("0x%016x", f.Nodes[p.Node].GUID), "PortGuid": fmt.Sprintf("0x%016x", p.GUID),
		"PortNum": number(uint64(p.Num)),
		"MSMLID":  number(uint64(p.SMLID)), "LID": number(uint64(p.LID)), "CapMsk": number(uint64(p.CapMask)),
		"LMC":           number(uint64(p.LMC)),
		"LinkWidthActv": number(codeOf(p.Width)), "LinkSpeedActv": number(bitsOf(p.Speed, false)),
		"PortState": number(uint64(p.State)),
		"NMTU":      number(uint64(p.MTU)), "VLCap": number(uint64(p.VLCap)), "OpVLs": number(uint64(p.OperVLs)),
	}
	if f.GIDPrefix != 0 {
		row["GIDPrfx"] = fmt.Sprintf("0x%016x", f.GIDPrefix)
	}
	if int(at) < len(db.Limits) {
		l := &db.Limits[at]
		row["LinkWidthEn"], row["LinkWidthSup"] = number(maskOf(l.WidthEnabled)), number(maskOf(l.WidthSupported))
		row["LinkSpeedEn"], row["LinkSpeedSup"] = number(bitsOf(l.SpeedEnabled, true)),
			number(bitsOf(l.SpeedSupported, true))
	}
	if h := db.Health.At(at); h != nil && h.FEC != health.Unknown {
		row["FECActv"] = number(uint64(h.FEC))
	}
	if h := db.Health.At(at); h != nil && h.Retrans != health.Unknown {
		row["RetransActv"] = number(uint64(h.Retrans))
	}
	return row
}

func writePorts(w *writer, db *DB) {
	columns := strings.Split(portColumns, ",")
	fields := make([]string, len(columns))
	for at := range db.Fabric.NumPorts() {
		if p := &db.Fabric.Ports[at]; p.Num == 0 && !db.Fabric.Nodes[p.Node].IsSwitch() {
			continue
		}
		row := portRow(db, at)
		for i, c := range columns {
			if fields[i] = row[c]; fields[i] == "" {
				fields[i] = "N/A"
			}
		}
		w.line("%s", strings.Join(fields, ","))
	}
}

func writeLinks(w *writer, db *DB) {
	f := db.Fabric
	for _, l := range f.Links() {
		a, b := &f.Ports[l.A], &f.Ports[l.B]
		w.line("0x%016x,%d,0x%016x,%d", f.Nodes[a.Node].GUID, a.Num, f.Nodes[b.Node].GUID, b.Num)
	}
}

func writeSwitches(w *writer, db *DB, tables *fabric.Tables) {
	f := db.Fabric
	for s := range f.NumSwitches() {
		n := f.SwitchNode(s)
		top, enhanced := "N/A", 0
		if tables != nil && tables.Known[s] {
			top = fmt.Sprint(tables.Top[s])
		}
		if n.EnhancedPort0 {
			enhanced = 1
		}
		w.line("0x%016x,N/A,N/A,N/A,%s%s,%d,N/A", n.GUID, top, strings.Repeat(",N/A", 12), enhanced)
	}
}

func writeKeys(w *writer, db *DB) {
	f := db.Fabric
	for _, e := range f.EndPorts {
		p := &f.Ports[e]
		for _, k := range db.PKeys[p.GUID] {
			w.line("0x%016x,%d,0x%04x,%d", f.Nodes[p.Node].GUID, p.Num, uint16(k), k>>15)
		}
	}
}

func writeManagers(w *writer, db *DB) {
	for _, m := range db.Managers {
		w.line("0x%016x,%d,%d", m.GUID, m.Priority, m.State)
	}
}

// pmColumns returns the columns of all counters, including the columns of 64-bit counters.
func pmColumns() string {
	columns := []string{"NodeGUID,PortGUID,PortNumber"}
	for c := range counters.NumCounters {
		columns = append(columns, c.String())
	}
	for c := range counters.NumCounters {
		columns = append(columns, wideName(c))
	}
	return strings.Join(columns, ",")
}

// wideName returns the name of the column for the 64-bit counter.
func wideName(c counters.Counter) string {
	if c >= counters.XmitData {
		return c.String() + "Extended"
	}
	return c.String() + "Ext"
}

func writeCounters(w *writer, db *DB) {
	if db.Counters == nil {
		return
	}
	f := db.Fabric
	for i := range db.Counters.Ports {
		c := &db.Counters.Ports[i]
		p := &f.Ports[c.Port]
		var b strings.Builder
		for _, set := range [2]counters.Set{c.Has &^ c.Wide, c.Has & c.Wide} {
			for k := range counters.NumCounters {
				if set.Has(k) {
					fmt.Fprintf(&b, ",0x%x", c.Values[k])
				} else {
					b.WriteString(",N/A")
				}
			}
		}
		w.line("0x%016x,0x%016x,%d%s", f.Nodes[p.Node].GUID, p.GUID, p.Num, b.String())
	}
}

func writeLabels(w *writer, db *DB) {
	f := db.Fabric
	for i := range f.NumPorts() {
		if label := f.Label(i); label != "" {
			w.line("0x%016x,0x%016x,%d,%s", f.Nodes[f.Ports[i].Node].GUID, f.Ports[i].GUID, f.Ports[i].Num, text(label))
		}
	}
}

func writeCables(w *writer, db *DB) {
	f := db.Fabric
	for _, at := range db.Health.Ports() {
		c := db.Health.At(at).Cable
		if c == nil {
			continue
		}
		p, warm := &f.Ports[at], "N/A"
		if c.Measured {
			warm = fmt.Sprintf("%dC", c.Celsius)
		}
		w.line("0x%016x,%d,%s,%s,%s,%s,%s,%s,%s,%s%s", f.Nodes[p.Node].GUID, p.Num, textOrNA(c.Vendor),
			textOrNA(c.Part), textOrNA(c.Serial), textOrNA(c.Revision), textOrNA(c.Length), textOrNA(c.Type), warm,
			textOrNA(c.Firmware), powers(&c.Optics))
	}
}

// cableHeading returns the columns of section CABLE_INFO.
func cableHeading() string {
	var b strings.Builder
	b.WriteString("NodeGuid,PortNum,Vendor,PN,SN,Rev,Length,Type,Temperature,FWVersion")
	for _, direction := range []string{"RX", "TX"} {
		for lane := range health.MaxLanes {
			fmt.Fprintf(&b, ",%s%dPower", direction, lane+1)
		}
	}
	b.WriteString(",RXPowerLowThresh,TXPowerLowThresh")
	return b.String()
}

// powers returns the optical columns of section CABLE_INFO.
func powers(o *health.Optics) string {
	var b strings.Builder
	for _, l := range slices.Concat(o.Rx[:], o.Tx[:], []health.Level{o.RxLow, o.TxLow}) {
		if l.Known {
			fmt.Fprintf(&b, ",%g dBm", l.Value)
		} else {
			b.WriteString(",N/A")
		}
	}
	return b.String()
}
