// SPDX-License-Identifier: Apache-2.0

package sa

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"example.org/ibconsole/mad"
)

// DefaultTimeout is a client's unless it says another: a subnet manager that sweeps is slow to answer.
const DefaultTimeout = time.Second

// ErrNoSM says that the local port knows no subnet manager.
var ErrNoSM = errors.New("the local port knows no subnet manager")

// Client asks the subnet administration at a LID. Methods go from any goroutine while the fields stay.
type Client struct {
	MAD     *mad.Client
	LID     uint16 // of the subnet manager
	SL      uint8
	PKey    uint16        // index of the P_Key to ask with
	SMKey   uint64        // 0: an untrusted asker
	Timeout time.Duration // of the first try; 0 is DefaultTimeout
	Limit   int           // how many bytes a table may have; 0 is mad.DefaultLimit
}

// New returns a client for the local port's subnet administration. The error wraps [ErrNoSM] without one.
func New(ctx context.Context, c *mad.Client) (*Client, error) {
	node, err := c.NodeInfo(ctx, mad.Path{})
	if err != nil {
		return nil, fmt.Errorf("find the subnet administration: %w", err)
	}
	port := node.LocalPort
	if node.Type == mad.NodeSwitch {
		port = 0
	}
	info, err := c.PortInfo(ctx, mad.Path{}, port)
	switch {
	case err != nil:
		return nil, fmt.Errorf("find the subnet administration: %w", err)
	case info.MasterSMLID == 0:
		return nil, fmt.Errorf("find the subnet administration: %w", ErrNoSM)
	}
	return &Client{MAD: c, LID: info.MasterSMLID, SL: info.MasterSMSL}, nil
}

// Request asks for what the components of record in mask say, in a [mad.Batch]; [Records] reads the answer.
func (c *Client) Request(method mad.Method, record Record, mask Mask, mod uint32) mad.Request {
	gsi := &mad.GSI{Timeout: c.Timeout, Limit: c.Limit}
	if gsi.Timeout <= 0 {
		gsi.Timeout = DefaultTimeout
	}
	var room [maxRecord]byte
	b, _ := record.AppendBinary(room[:0]) // does not fail
	copy(gsi.Body.SA(), b)
	h := Header{SMKey: c.SMKey, Mask: mask}
	var m [mad.Size]byte
	h.put(&m)
	copy(gsi.Body[:mad.OffSAData-mad.OffRMPPVersion], m[mad.OffRMPPVersion:])
	return mad.Request{
		Class: mad.ClassSA, Method: method, Attr: record.AttrID(), Mod: mod,
		LID: c.LID, SL: c.SL, PKey: c.PKey, GSI: gsi,
	}
}

// Records reads the records of an answer: one of a Get, Set or Delete, any number of a GetTable. Errors of subnet
// administration wrap a [Status]. A table cut off on its way comes with an error that wraps mad.ErrTruncated.
func Records[T any, P recordOf[T]](r *mad.Reply) ([]T, error) {
	if r.Err != nil && !errors.Is(r.Err, mad.ErrTruncated) {
		return nil, failed(r)
	}
	if r.MAD == nil {
		return nil, fmt.Errorf("%v: %w", r.Request.Method, ErrRequest)
	}
	if r.Table == nil {
		out := make([]T, 1)
		return out, P(&out[0]).UnmarshalBinary(r.MAD[mad.OffSAData:])
	}
	size := 8 * int(binary.BigEndian.Uint16(r.MAD[mad.OffRecordSize:]))
	table := r.Table
	if r.Err != nil && size > 0 { // the last may be half there
		table = table[:len(table)/size*size]
	}
	out, err := Table[T, P](table, size)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", r.Request.Method, err)
	}
	return out, r.Err
}

// failed is the error of a reply, with what the subnet administration says.
func failed(r *mad.Reply) error {
	var status mad.Status
	if !errors.As(r.Err, &status) {
		return r.Err
	}
	if s := Status(status >> 8 & 0x7f); s != 0 {
		return fmt.Errorf("%w: %w", r.Err, s)
	}
	return r.Err
}

// Ask asks by a method for one record: Get, or Set, which joins a multicast group or registers a service, or
// Delete, which undoes that; both return the record as it is after that.
func Ask[T any, P recordOf[T]](ctx context.Context, c *Client, method mad.Method, record T, mask Mask) (out T,
	err error) {
	req := c.Request(method, P(&record), mask, 0)
	err = c.MAD.Ask(ctx, &req, func(r *mad.Reply) error {
		records, err := Records[T, P](r)
		if err == nil && len(records) != 1 {
			err = fmt.Errorf("%v of one record: %d came", method, len(records))
		}
		if err == nil {
			out = records[0]
		}
		return err
	})
	return out, err
}

// Get asks for the one record like record in mask, else the error wraps [NoRecords] or [TooManyRecords].
func Get[T any, P recordOf[T]](ctx context.Context, c *Client, record T, mask Mask) (T, error) {
	return Ask[T, P](ctx, c, mad.MethodGet, record, mask)
}

// GetTable asks for all records whose components in mask are as in record. None is no error. A table that was
// cut off on its way comes with an error that wraps mad.ErrTruncated.
func GetTable[T any, P recordOf[T]](ctx context.Context, c *Client, record T, mask Mask) (out []T, err error) {
	req := c.Request(mad.MethodGetTable, P(&record), mask, 0)
	err = c.MAD.Ask(ctx, &req, func(r *mad.Reply) (err error) {
		out, err = Records[T, P](r)
		return err
	})
	if errors.Is(err, NoRecords) {
		return nil, nil
	}
	return out, err
}

// ClassPortInfo asks what the subnet administration can do.
func (c *Client) ClassPortInfo(ctx context.Context) (mad.ClassPortInfo, error) {
	return Ask(ctx, c, mad.MethodGet, mad.ClassPortInfo{}, 0)
}
