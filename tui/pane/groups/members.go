// SPDX-License-Identifier: Apache-2.0

package groups

import (
	"example.org/ibconsole/fabric"
	"example.org/ibconsole/internal/prose"
	"example.org/ibconsole/tui/draw"
)

func (l *groups) member(row int) *fabric.Member { return &l.group().group.Members[row] }

func (l *groups) memberPort(row int) fabric.PortIndex {
	return l.Scene.Picture.Fabric.PortByGUID(l.member(row).GUID)
}

func (l *groups) memberName(row int) string {
	if p := l.memberPort(row); p != fabric.None {
		return l.Scene.Picture.Fabric.PortName(p)
	}
	return "not in the subnet"
}

func (l *groups) memberLook(row int) draw.Style {
	return prose.When(l.memberPort(row) == fabric.None, l.Theme.Warn, "")
}

func (l *groups) memberSwitch(row int) string {
	f := l.Scene.Picture.Fabric
	p := l.memberPort(row)
	if p == fabric.None {
		return ""
	}
	sw, port := f.AttachedSwitch(p)
	if sw == fabric.None {
		return ""
	}
	return f.PortName(f.Port(f.Switches[sw], port))
}
