// SPDX-License-Identifier: Apache-2.0

package paths

import (
	"errors"
	"fmt"

	"example.org/ibconsole/fabric"
	"example.org/ibconsole/fabric/formats/pathdb"
	"example.org/ibconsole/routing/checks/walk"
)

// ErrUnread is the error that [Compare] returns for a path that uses an unread table.
var ErrUnread = errors.New("a switch of the path has a forwarding table that was not read")

// Compare follows the path from an end port to a LID through the tables, and compares it with the record in a database.
// It returns nil if they agree, [ErrUnread], or an error that describes the difference. It does not compare bits of SLs
// that partitions determine, because tables do not contain them. O(hops).
func Compare(v *pathdb.View, t *fabric.Tables, src fabric.PortIndex, lid uint16) error {
	f := t.Fabric
	dst := f.PortByLID(lid)
	slid := f.Ports[src].LID
	got, err := v.Query(slid, lid, pathdb.Want{})
	end, links, gbps, mtu := walked(t, src, dst, lid)
	there := end == walk.Delivered
	switch {
	case end == walk.Unknown:
		return ErrUnread
	case errors.Is(err, pathdb.ErrNoPath) && !there, errors.Is(err, pathdb.ErrPartition):
		return nil
	case err != nil:
		return fmt.Errorf("there is no record: %w; the tables have a path of %d links", err, links)
	case !there:
		return fmt.Errorf("the record has %d links, but the tables have no path", got.Hops)
	case int(got.Hops) != links:
		return fmt.Errorf("the record has %d links, the path by the tables has %d", got.Hops, links)
	case got.MTU != mtu:
		return fmt.Errorf("the record has MTU %d, the path by the tables has %d", got.MTU, mtu)
	case got.Rate != pathdb.RateCode(gbps):
		return fmt.Errorf("the record has rate %g Gb/s, the path by the tables has %g", pathdb.Gbps(got.Rate), gbps)
	}
	sls := fabric.RangeOf(t.SLs, slid, lid)
	if own := ^v.PartitionBits(); got.SLs.First&own != sls.First&own || got.SLs.N != sls.N {
		return fmt.Errorf("the record has SL %s, the path by the tables has %s", got.SLs, sls)
	}
	return nil
}

func walked(t *fabric.Tables, src, dst fabric.PortIndex, lid uint16) (end walk.Verdict, links int, gbps float64,
	mtu uint8) {
	f := t.Fabric
	limit := func(port fabric.PortIndex) {
		if port == fabric.None || f.Ports[port].Num == 0 {
			return
		}
		p := &f.Ports[port]
		if g := p.Gbps(); g > 0 && (gbps == 0 || g < gbps) {
			gbps = g
		}
		if p.MTU > 0 && (mtu == 0 || p.MTU < mtu) {
			mtu = p.MTU
		}
	}
	limit(src)
	limit(dst)
	if src == dst {
		return walk.Delivered, 0, gbps, mtu
	}
	path := walk.Trace(t, src, lid)
	for _, h := range path.Hops {
		limit(h.Out)
	}
	return path.Verdict, path.Links(), gbps, mtu
}
