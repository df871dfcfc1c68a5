/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef __GST_FAIRMIX_SLOW_H__
#define __GST_FAIRMIX_SLOW_H__

#include "gstfairmixgate.h"

/* A packet whose memory cannot be read before the gate is open: it holds its
 * thread in the middle of the element. */
typedef struct
{
  GstAllocator parent;
  Gate *gate;
} SlowAllocator;

typedef struct
{
  GstAllocatorClass parent_class;
} SlowAllocatorClass;

typedef struct
{
  GstMemory parent;
  GstMemory *real;
} SlowMemory;

GType slow_allocator_get_type (void);
G_DEFINE_TYPE (SlowAllocator, slow_allocator, GST_TYPE_ALLOCATOR);

static void
slow_free (GstAllocator * allocator, GstMemory * memory)
{
  gst_memory_unref (((SlowMemory *) memory)->real);
  g_free (memory);
}

static gpointer
slow_map (GstMemory * memory, gsize maxsize, GstMapFlags flags)
{
  SlowMemory *slow = (SlowMemory *) memory;
  GstMapInfo map;
  gpointer data;

  gate_pass (((SlowAllocator *) memory->allocator)->gate);
  fail_unless (gst_memory_map (slow->real, &map, flags));
  data = map.data;
  gst_memory_unmap (slow->real, &map);
  return data;
}

static void
slow_unmap (GstMemory * memory G_GNUC_UNUSED)
{
}

static void
slow_allocator_class_init (SlowAllocatorClass * klass)
{
  GST_ALLOCATOR_CLASS (klass)->free = slow_free;
}

static void
slow_allocator_init (SlowAllocator * slow)
{
  GstAllocator *allocator = GST_ALLOCATOR (slow);

  allocator->mem_type = "slow";
  allocator->mem_map = slow_map;
  allocator->mem_unmap = slow_unmap;
  GST_OBJECT_FLAG_SET (allocator, GST_ALLOCATOR_FLAG_CUSTOM_ALLOC);
}

static GstBuffer *
slow_packet (GstBuffer * packet, Gate * gate)
{
  SlowAllocator *allocator = g_object_new (slow_allocator_get_type (), NULL);
  SlowMemory *memory = g_new0 (SlowMemory, 1);
  gsize size = gst_buffer_get_size (packet);
  GstBuffer *buffer = gst_buffer_new ();

  allocator->gate = gate;
  memory->real = gst_buffer_get_all_memory (packet);
  gst_memory_init (GST_MEMORY_CAST (memory), GST_MEMORY_FLAG_READONLY |
      GST_MEMORY_FLAG_NO_SHARE, GST_ALLOCATOR (allocator), NULL, size, 0, 0,
      size);
  gst_object_unref (allocator);
  gst_buffer_append_memory (buffer, GST_MEMORY_CAST (memory));
  GST_BUFFER_PTS (buffer) = GST_BUFFER_PTS (packet);
  gst_buffer_unref (packet);
  return buffer;
}

#endif /* __GST_FAIRMIX_SLOW_H__ */
