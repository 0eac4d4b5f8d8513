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

// DefaultTimeout is the default of [Client].Timeout. It is long because a sweeping subnet manager responds slowly.
const DefaultTimeout = time.Second

// ErrNoSM reports that the local port does not know a subnet manager.
var ErrNoSM = errors.New("the local port knows no subnet manager")

// Client sends requests to the subnet administration at a LID. It is safe for concurrent use as long as its fields do
// not change.
type Client struct {
	MAD     *mad.Client
	LID     uint16 // of the subnet manager
	SL      uint8
	PKey    uint16        // index of the P_Key to use
	SMKey   uint64        // 0: an untrusted client
	Timeout time.Duration // of the first try; 0 means DefaultTimeout
	Limit   int           // maximum size of a table in bytes; 0 means mad.DefaultLimit
}

// New returns a client of the subnet administration that the local port knows. If the port knows no subnet manager, the
// error wraps [ErrNoSM].
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

// Request returns a request for a [mad.Batch]. It selects the records that have the same values as record in the
// components in mask. [Records] decodes the answer.
func (c *Client) Request(method mad.Method, record Record, mask Mask, mod uint32) mad.Request {
	gsi := &mad.GSI{Timeout: c.Timeout, Limit: c.Limit}
	if gsi.Timeout <= 0 {
		gsi.Timeout = DefaultTimeout
	}
	var buf [maxRecord]byte
	b, _ := record.AppendBinary(buf[:0]) // does not fail
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

// Records decodes the records in an answer. The answer to a Get, Set or Delete has one record, and the answer to a
// GetTable any number. An error of the subnet administration wraps a [Status]. If a table is truncated, Records returns
// its complete records and an error that wraps mad.ErrTruncated.
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
	if r.Err != nil && size > 0 { // the last record may be incomplete
		table = table[:len(table)/size*size]
	}
	out, err := Table[T, P](table, size)
	if err != nil {
		return nil, fmt.Errorf("%v: %w", r.Request.Method, err)
	}
	return out, r.Err
}

// failed returns the error of a reply. For a status of the subnet administration it wraps a [Status].
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

// Ask sends a request for one record. Get reads the record. Set joins a multicast group or registers a service, and
// Delete undoes this. Set and Delete return the record after the change.
func Ask[T any, P recordOf[T]](ctx context.Context, c *Client, method mad.Method, record T, mask Mask) (out T,
	err error) {
	req := c.Request(method, P(&record), mask, 0)
	err = c.MAD.Ask(ctx, &req, func(r *mad.Reply) error {
		records, err := Records[T, P](r)
		if err == nil && len(records) != 1 {
			err = fmt.Errorf("%v: got %d records, expected one", method, len(records))
		}
		if err == nil {
			out = records[0]
		}
		return err
	})
	return out, err
}

// Get reads the record that has the values of record in the components in mask. Unless there is exactly one such
// record, the error wraps [NoRecords] or [TooManyRecords].
func Get[T any, P recordOf[T]](ctx context.Context, c *Client, record T, mask Mask) (T, error) {
	return Ask[T, P](ctx, c, mad.MethodGet, record, mask)
}

// GetTable reads all records that have the values of record in the components in mask. If there are none, it returns no
// error. If the table is truncated, it returns the complete records and an error that wraps mad.ErrTruncated.
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

// ClassPortInfo reads the capabilities of the subnet administration.
func (c *Client) ClassPortInfo(ctx context.Context) (mad.ClassPortInfo, error) {
	return Ask(ctx, c, mad.MethodGet, mad.ClassPortInfo{}, 0)
}
