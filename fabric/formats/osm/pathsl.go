// SPDX-License-Identifier: Apache-2.0

package osm

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"

	"example.org/ibconsole/fabric"
)

// PathSLs holds SLs of paths that were read from a file.
type PathSLs struct {
	// rows holds an index into runs for each source LID, -1 for a source that is not in the file.
	rows []int32
	runs [][]slRun
}

// slRun holds the SLs of the paths to the LIDs from first to last.
type slRun struct {
	first, last uint16
	sls         fabric.SLRange
}

// SL implements [fabric.PathSLs]. O(log runs).
func (p *PathSLs) SL(src, dst uint16) uint8 { return fabric.SpreadSL(p.Range(src, dst), src, dst) }

// Range implements [fabric.RangedSLs]. O(log runs).
func (p *PathSLs) Range(src, dst uint16) fabric.SLRange {
	if int(src) >= len(p.rows) || p.rows[src] < 0 {
		return fabric.OneSL(0)
	}
	runs := p.runs[p.rows[src]]
	i, _ := slices.BinarySearchFunc(runs, dst, func(r slRun, dst uint16) int { return int(r.last) - int(dst) })
	if i == len(runs) || dst < runs[i].first {
		return fabric.OneSL(0)
	}
	return runs[i].sls
}

// maxSources is the maximum number of ranges of source LIDs on a line.
const maxSources = 64

// WritePathSLs writes the SLs of the paths between all LIDs of the end ports. The format is not one of OpenSM's:
//
//	# service levels of paths; 0 where nothing is said
//	from 1-18,40
//	to 19-36 1
//	to 41 2
//	to 42 4-7
//
// Sources with the same SLs are on one line. 4-7 means that the subnet administration grants one of the SLs 4 to 7.
// LIDs are decimal. WritePathSLs calls the function sls twice for every SL. O(LIDs^2).
func WritePathSLs(w io.Writer, f *fabric.Fabric, sls fabric.PathSLs) error {
	var lids []uint16
	for lid := 1; lid <= int(f.MaxLID); lid++ {
		if f.PortByLID(uint16(lid)) != fabric.None {
			lids = append(lids, uint16(lid))
		}
	}
	b := bufio.NewWriterSize(w, 1<<16)
	_, err := b.WriteString("# service levels of paths; 0 where nothing is said\n")
	var runs []slRun
	for _, sources := range sameSLs(lids, sls) {
		if runs = slRuns(runs[:0], sources[0], lids, sls); len(runs) == 0 || err != nil {
			continue
		}
		err = writeRuns(b, sources, runs)
	}
	if err == nil {
		err = b.Flush()
	}
	if err != nil {
		return fmt.Errorf("write SLs: %w", err)
	}
	return nil
}

// sameSLs groups the source LIDs that have the same SLs. The groups are sorted by their first LID.
func sameSLs(lids []uint16, sls fabric.PathSLs) [][]uint16 {
	index := map[[sha256.Size]byte]int{}
	var groups [][]uint16
	var runs []slRun
	var bytes []byte
	for _, src := range lids {
		runs, bytes = slRuns(runs[:0], src, lids, sls), bytes[:0]
		for _, r := range runs {
			bytes = binary.LittleEndian.AppendUint16(bytes, r.first)
			bytes = append(binary.LittleEndian.AppendUint16(bytes, r.last), r.sls.First, r.sls.N)
		}
		sum := sha256.Sum256(bytes)
		g, ok := index[sum]
		if !ok {
			g = len(groups)
			index[sum] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], src)
	}
	return groups
}

// slRuns returns the runs of SLs from one source. It omits runs with SL 0.
func slRuns(runs []slRun, src uint16, lids []uint16, sls fabric.PathSLs) []slRun {
	for _, dst := range lids {
		r := fabric.RangeOf(sls, src, dst)
		if r.First &= 0xf; r == fabric.OneSL(0) {
			continue
		}
		if n := len(runs) - 1; n >= 0 && runs[n].sls == r && runs[n].last+1 == dst {
			runs[n].last = dst
			continue
		}
		runs = append(runs, slRun{dst, dst, r})
	}
	return runs
}

func writeRuns(b *bufio.Writer, sources []uint16, runs []slRun) error {
	var ranges []slRun
	for _, lid := range sources {
		if n := len(ranges) - 1; n >= 0 && ranges[n].last+1 == lid {
			ranges[n].last = lid
		} else {
			ranges = append(ranges, slRun{first: lid, last: lid})
		}
	}
	for some := range slices.Chunk(ranges, maxSources) {
		line := append(b.AvailableBuffer(), "from "...)
		for i, r := range some {
			if i > 0 {
				line = append(line, ',')
			}
			line = appendRange(line, r)
		}
		if _, err := b.Write(append(line, '\n')); err != nil {
			return err
		}
		for _, r := range runs {
			line := append(appendRange(append(b.AvailableBuffer(), "to "...), r), ' ')
			line = appendRange(line, slRun{first: uint16(r.sls.First), last: uint16(r.sls.First + r.sls.N - 1)})
			if _, err := b.Write(append(line, '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

func appendRange(line []byte, r slRun) []byte {
	line = strconv.AppendUint(line, uint64(r.first), 10)
	if r.last != r.first {
		line = strconv.AppendUint(append(line, '-'), uint64(r.last), 10)
	}
	return line
}
