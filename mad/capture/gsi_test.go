// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"encoding/binary"
	"testing"

	"example.org/ibconsole/mad"
)

const classPerf = 0x04

// gsi returns a MAD of the general services to or from LID 7.
func gsi(class uint8, method mad.Method, attr mad.AttrID, tid uint32) mad.Frame {
	f := mad.Frame{DLID: 7, QP: mad.QP1, SL: 2}
	m := &f.Data
	m[0], m[mad.OffClass], m[2], m[mad.OffMethod] = 1, class, 1, uint8(method)
	if class == classSA {
		m[2] = 2
	}
	binary.BigEndian.PutUint32(m[mad.OffTID+4:], tid)
	binary.BigEndian.PutUint16(m[mad.OffAttr:], uint16(attr))
	return f
}

// TestPerf captures reads, writes and answers of PortCounters and PortCountersExtended (IBA 1.2.1, 16.1.3.5 and
// 16.1.4.11).
func TestPerf(t *testing.T) {
	l := newLine()
	tr := Wrap(l)
	tr.SetLID(3)
	file := start(t, tr)
	be := binary.BigEndian
	for i, attr := range []mad.AttrID{0x12, 0x1d} {
		for j, method := range []mad.Method{mad.MethodGet, mad.MethodSet} {
			q := gsi(classPerf, method, attr, uint32(2*i+j))
			q.Data[65] = 5 // PortSelect
			be.PutUint16(q.Data[66:], 0xffff)
			if err := tr.Send(&q); err != nil {
				t.Fatal(err)
			}
			a := q
			a.SLID, a.DLID = 0, 0
			a.Data[mad.OffMethod] = uint8(mad.MethodGetResp)
			if attr == 0x12 {
				be.PutUint16(a.Data[68:], 77)         // SymbolErrorCounter
				be.PutUint32(a.Data[88:], 0xfffffffe) // PortXmitData
			} else {
				be.PutUint64(a.Data[72:], 1<<40) // PortXmitData
				be.PutUint64(a.Data[88:], 99)    // PortXmitPkts
			}
			l.arrive(t, tr, a)
		}
	}
	if got, want := stop(t, tr), (Stats{Sent: 4, Received: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	wellFormed(t, file)
	rows := tshark(t, file, "lrh.vl", "lrh.sl", "lrh.slid", "lrh.dlid", "bth.destqp", "deth.q_key", "deth.srcqp",
		"mad.method",
		"portcounters.portselect", "portcounters.symbolerrorcounter", "portcounters.portxmitdata",
		"portcounters_ext.portselect", "portcounters_ext.portxmitdata", "portcounters_ext.portxmitpkts")
	if len(rows) != 8 {
		t.Fatalf("tshark sees %d packets, want 8", len(rows))
	}
	for i, row := range rows {
		slid, dlid, method := uint64(3), uint64(7), uint64(1+i/2%2)
		answer := i%2 == 1
		if answer {
			slid, dlid, method = dlid, slid, uint64(mad.MethodGetResp)
		}
		compare(t, i, row[:8], 0, 2, slid, dlid, 1, uint64(mad.QKey1), 1, method)
		switch {
		case i < 4 && answer:
			compare(t, i, row[8:11], 5, 77, 0xfffffffe)
		case i < 4:
			compare(t, i, row[8:11], 5, 0, 0)
		case answer:
			compare(t, i, row[11:], 5, 1<<40, 99)
		default:
			compare(t, i, row[11:], 5, 0, 0)
		}
	}
}

// TestSA captures requests for records, answers of one record and of a table, and RMPP headers (IBA 1.2.1, 13.6 and
// 15.2.5).
func TestSA(t *testing.T) {
	l := newLine()
	tr := Wrap(l)
	tr.SetLID(3)
	file := start(t, tr)
	be := binary.BigEndian
	send := func(f mad.Frame) {
		be.PutUint64(f.Data[mad.OffSMKey:], key)
		if err := tr.Send(&f); err != nil {
			t.Fatal(err)
		}
	}
	const getTable, getTableResp = 0x12, 0x92
	for tid, attr := range []mad.AttrID{0x11, 0x12, 0x18, 0x35, 0x38} { // node, port, SM, path, multicast member
		send(gsi(classSA, getTable, attr, uint32(tid)))
	}
	path := gsi(classSA, mad.MethodGetResp, 0x35, 9)
	path.SLID = 7
	be.PutUint16(path.Data[mad.OffSAData+40:], 21) // DLID
	be.PutUint16(path.Data[mad.OffSAData+42:], 3)  // SLID
	path.Data[mad.OffSAData+53] = 4                // SL
	l.arrive(t, tr, path)

	// A table of three PortInfoRecords of 72 bytes in two MADs of 200.
	var table [2 * saDataLen]byte
	for i := range 3 {
		rec := table[i*72:]
		be.PutUint16(rec, uint16(30+i)) // EndportLID
		rec[2] = uint8(i)
		be.PutUint64(rec[4:], key)
		be.PutUint16(rec[4+16:], uint16(30+i)) // LID
		rec[4+32] = uint8(mad.PortActive)
	}
	for part := range 2 {
		f := gsi(classSA, getTableResp, recordPortInfo, 1)
		f.SLID = 7
		f.Data[24], f.Data[25], f.Data[26] = 1, 1, 1 // RMPP version 1, DATA, active
		if part == 0 {
			f.Data[26] |= 2 // first
			be.PutUint32(f.Data[32:], 2*20+3*72)
		} else {
			f.Data[26] |= 4 // last
			be.PutUint32(f.Data[32:], 20+16)
		}
		be.PutUint32(f.Data[mad.OffSegment:], uint32(part+1))
		be.PutUint64(f.Data[mad.OffSMKey:], key)
		be.PutUint16(f.Data[mad.OffRecordSize:], 9)
		copy(f.Data[mad.OffSAData:], table[part*saDataLen:])
		l.arrive(t, tr, f)
	}
	stop(t, tr)
	noKey(t, file)
	wellFormed(t, file)
	rows := tshark(t, file, "lrh.slid", "lrh.dlid", "bth.destqp", "deth.q_key", "mad.mgmtclass", "mad.method",
		"mad.attributeid", "sa.smkey",
		"pathrecord.dlid", "pathrecord.slid", "pathrecord.sl", "sa.endportlid", "portinfo.m_key", "portinfo.lid",
		"portinfo.portstate", "rmpp.segmentnumber")
	if len(rows) != 8 {
		t.Fatalf("tshark sees %d packets, want 8", len(rows))
	}
	for i, attr := range []uint64{0x11, 0x12, 0x18, 0x35, 0x38, 0x35, 0x12, 0x12} {
		slid, dlid, method := uint64(3), uint64(7), uint64(getTable)
		switch {
		case i == 5:
			slid, dlid, method = 7, 3, uint64(mad.MethodGetResp)
		case i > 5:
			slid, dlid, method = 7, 3, getTableResp
		}
		compare(t, i, rows[i][:8], slid, dlid, 1, uint64(mad.QKey1), classSA, method, attr, 0)
	}
	compare(t, 5, rows[5][8:11], 21, 3, 4)
	compare(t, 6, rows[6][11:], 30, 0, 30, uint64(mad.PortActive), 1) // tshark decodes the first record
	compare(t, 7, rows[7][15:], 2)
}
